import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Changes to the database without the store key are always noticed.
struct TamperTests {
    /// A store with two rows of every kind, and what its rows say.
    struct Full {
        let home: Home
        let devices: [String]
        let providerKeys: [ProviderKeyRecord]

        init() throws {
            home = try Home()
            let store = home.store
            for name in ["one", "two"] {
                let provider = try store.generateProviderKey(named: name, topic: .app, at: start).publicKey
                let certificate = try store.rotateSigningKey(named: name, at: start).certificate
                _ = try store.requestCertificate(for: name, at: start)
                let topic = try Topic.app
                try store.change { (state) throws(KeyStoreError) in
                    try state.pin(ProviderPin(provider, certificate: certificate), for: name, topic: topic)
                    try state.add(to: name, at: start)
                    _ = try state.updateKey(of: state.accounts.count - 1)
                }
                try store.setSetting("value of \(name)", named: name)
                var registration = DeviceRegistration(
                    publicKey: DeviceKey().publicKey, suites: [1, 2], topic: try .app, createdAt: start,
                    pinnedProvider: provider, certificate: certificate, appVersion: AppVersion("2.3.1"))
                registration.token = name == "one" ? "00ff" : "01ff"
                registration.environment = .production
                (registration.updateKey, registration.sequence) = (SigningKey().publicKey, 7)
                registration.grant = "grant"
                _ = try store.addDevice(registration, id: name, owner: .user("alice"), at: start)
            }
            let removals = try ["one", "two"].map { name in
                RemovedDevice(
                    id: "removed \(name)", removedAt: start, reason: "unregistered", user: "alice", topic: try .app,
                    lastKey: RemovedDevice.LastKey(generation: 1, suite: .x25519, id: DeviceKey().publicKey.id),
                    signing: RemovedDevice.Signing(updateKey: SigningKey().publicKey, sequence: 7), isLost: true)
            }
            try store.write { (store) throws(KeyStoreError) in
                for removal in removals { try store.put(HeldRow(.removed(removal))) }
                for name in ["one", "two"] {
                    try store.put(EarlierKeyRow(device: name, DeviceKey().publicKey, replacedAt: start))
                }
            }
            devices = ["one", "two"]
            providerKeys = try store.providerKeys()
        }

        /// Uses the row of each table that is about `name`.
        func use(_ table: String, _ name: String) throws {
            let store = home.store
            switch table {
            case "devices": _ = try store.device(id: name)
            case "removals":
                _ = try store.readOnce { (store) throws(KeyStoreError) in try store.held("removed \(name)") }
            case "earlier_keys":
                _ = try store.readOnce { (store) throws(KeyStoreError) in
                    try store.rows(EarlierKeyRow.self, "WHERE device = ?", .text(name))
                }
            default: Issue.record("no such table: \(table)")
            }
        }
    }

    /// Every column of every table but the primary keys, which say which row it is.
    private static let columns: [(table: String, key: String, columns: [String])] = [
        (
            "devices", "id",
            [
                "public_key", "key_id", "generation", "created", "updated", "user", "topic", "provider", "epoch",
                "suites", "app_version", "token", "environment", "update_key", "sequence", "relay_grant", "removed",
                "reason", "lost", "tag",
            ]
        ),
        ("earlier_keys", "device", ["public_key", "key_id", "replaced", "tag"]),
    ]

    private static let changes: [(name: String, sql: @Sendable (String) -> String)] = [
        (
            "a flipped bit",
            {
                "CASE typeof(\($0)) WHEN 'blob' THEN x'ff' || substr(\($0), 2) WHEN 'integer' THEN \($0) + 8 ELSE coalesce(\($0), '') || 'x' END"
            }
        ),
        ("NULL", { _ in "NULL" }),
        ("nothing", { "CASE WHEN \($0) IS NULL THEN 1 ELSE zeroblob(length(\($0))) END" }),
        (
            "another type",
            { "CASE typeof(\($0)) WHEN 'text' THEN CAST(\($0) AS BLOB) ELSE CAST(\($0) AS TEXT) || '' END" }
        ),
        ("one byte more", { "CASE typeof(\($0)) WHEN 'blob' THEN \($0) || x'00' ELSE coalesce(\($0), 0) || '0' END" }),
    ]

    /// A device's row as it is, and as it is when the device is removed.
    @Test(arguments: columns.map(\.table) + ["removals"])
    func aChangedColumnIsNoticedAndTheOtherRowsAreOfUse(_ name: String) throws {
        let full = try Full()
        let raw = try full.home.raw()
        let (use, table) = (name, name == "removals" ? "devices" : name)
        let (_, key, columns) = try #require(Self.columns.first { $0.table == table })
        let row = name == "removals" ? "'removed one'" : "'one'"
        let original = try raw.rows("SELECT * FROM \(table)")
        for column in columns {
            for change in Self.changes {
                // A constraint of the table may refuse the change already.
                try? raw.execute("UPDATE \(table) SET \(column) = \(change.sql(column)) WHERE \(key) = \(row)")
                guard try raw.rows("SELECT * FROM \(table)") != original else { continue }
                let error = error { try full.use(use, "one") }
                #expect(error?.code == .corruptStore, "\(table).\(column) became \(change.name)")
                #expect(error?.description.contains("table \(table)") == true, "\(error as Any)")
                #expect(code { try full.use(use, "two") } == nil, "\(table).\(column) became \(change.name)")
                #expect(full.home.store.check().contains { $0.severity == .error })
                try raw.execute("DELETE FROM \(table)")
                for values in original {
                    let places = values.map { _ in "?" }.joined(separator: ", ")
                    try raw.rows("INSERT INTO \(table) VALUES (\(places))", values)
                }
                #expect(code { try full.use(use, "one") } == nil)
            }
        }
    }

    @Test func aDevicesKeyCannotBeSwappedForAnothers() throws {
        let full = try Full()
        let raw = try full.home.raw()
        for columns in ["public_key", "public_key, generation, created, updated, provider, tag"] {
            try raw.execute(
                "UPDATE devices SET (\(columns)) = (SELECT \(columns) FROM devices WHERE id = 'two') WHERE id = 'one'")
            #expect(code { try full.use("devices", "one") } == .corruptStore)
            #expect(
                try full.home.store.devices(["two", "one"]).map { device in code { try device.get() } } == [
                    nil, .corruptStore,
                ])
            #expect(code { try full.use("devices", "two") } == nil)
        }
        // The owner of the store repairs the row by registering the device again.
        let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
        #expect(code { try full.home.store.addDevice(registration, id: "one", at: start) } == .corruptStore)
        #expect(try full.home.store.addDevice(registration, id: "one", replace: true, at: start) == .added)
        #expect(try full.home.store.device(id: "one")?.publicKey == registration.publicKey)
    }

    @Test(arguments: ["key_check = zeroblob(32)", "key_check = x''"])
    func aChangedHeaderIsNoticed(_ change: String) throws {
        let home = try Home()
        try home.raw().execute("UPDATE store SET \(change)")
        #expect(code { try home.reopened() } == .wrongPassphrase)
    }

    @Test func twoRowsThatChangePlacesAreNoticed() throws {
        let full = try Full()
        try full.home.raw().execute(
            "UPDATE devices SET id = 'x' WHERE id = 'one'; UPDATE devices SET id = 'one' WHERE id = 'two';"
                + "UPDATE devices SET id = 'two' WHERE id = 'x'")
        #expect(code { try full.use("devices", "one") } == .corruptStore)
        #expect(code { try full.use("devices", "two") } == .corruptStore)
    }

    @Test func aRowOfAnotherStoreIsNoticed() throws {
        let (mine, other) = (try Full(), try Full())
        let row = try #require(try other.home.raw().rows("SELECT * FROM devices WHERE id = 'one'").first)
        try mine.home.raw().rows(
            "INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row
        )
        #expect(code { try mine.use("devices", "one") } == .corruptStore)
    }

    @Test func aDamagedRowIsNamedWithoutItsControlCharacters() throws {
        let full = try Full()
        let raw = try full.home.raw()
        try raw.execute("UPDATE devices SET id = 'a' || char(27) || '[2J' WHERE id = 'one'")
        let findings = full.home.store.check().filter { $0.severity == .error }
        #expect(findings.count == 1)
        #expect(findings.first?.message.hasPrefix("row 611b5b324a of table devices is damaged") == true)
        try raw.execute("UPDATE devices SET generation = 2 WHERE id = 'two'")
        #expect(error { try full.use("devices", "two") }?.description.hasPrefix("row 'two' of table devices") == true)
    }

    @Test func aTriggerThatIsAddedWhileTheStoreIsOpenIsFound() throws {
        let full = try Full()
        #expect(!full.home.store.check().contains { $0.severity != .note })
        try full.home.raw().execute("CREATE TRIGGER t AFTER INSERT ON devices BEGIN DELETE FROM devices; END")
        #expect(full.home.store.check().contains { $0.severity == .error && $0.message.contains("has a trigger") })
    }

    /// The store's answers are right. It may miss something: rows are authenticated, not counted.
    @Test func aFlippedByteInTheFileGivesNoWrongAnswer() throws {
        let full = try Full()
        let expected = try full.answers(full.home.store)
        try full.home.store.withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        let sound = try readFile(full.home.scratch.file("keystore.db"))
        let storeKey = try readFile(full.home.scratch.file("store.key"))
        let key = try #require(try full.home.store.device(id: "one")).publicKey
        let found = try #require(sound.firstRange(of: key.bytes))
        // The row around the device's key, and a sample of the whole file.
        let row = (found.lowerBound - 40..<found.upperBound + 120).clamped(to: sound.indices)
        var refused = 0
        let copy = try Scratch()
        try #require(unsafe mkdir(copy.store, 0o700) == 0)
        try writeFile(copy.file("store.key"), storeKey)
        for index in Array(row) + Array(stride(from: 0, to: sound.count, by: 251)) {
            var bytes = sound
            bytes[index] ^= 0x20
            try writeFile(copy.file("keystore.db"), bytes)
            do {
                let answers = try full.answers(try .open(in: copy.store, passphrase: nil, options: .quick))
                #expect(answers.isSubset(of: expected), "byte \(index)")
            } catch let error as KeyStoreError {
                let codes: [KeyStoreError.Code] = [
                    .corruptStore, .wrongPassphrase, .newerVersion, .olderVersion, .unknownDevice, .removedDevice,
                    .unknownName,
                ]
                #expect(codes.contains(error.code), "byte \(index): \(error)")
                refused += row.contains(index) ? 1 : 0
            }
        }
        #expect(refused > row.count / 2)
    }
}

extension TamperTests.Full {
    /// The contents of the store's rows by name.
    fileprivate func answers(_ store: SQLiteKeyStore) throws -> Set<String> {
        var answers: [String] = []
        for device in try store.devices(devices) { answers.append("\(try device.get())") }
        let state = try store.state()
        answers += state.keys.map { "\($0.publicKey) \($0.generation) \($0.state) \($0.scalar)" }
        answers.append("\(try store.providerKey(named: "one"))")
        answers += try state.trust(for: .app, account: "one").pins.map { "\($0)" }
        answers += try store.setting(named: "one").map { [$0] } ?? []
        return Set(answers)
    }
}

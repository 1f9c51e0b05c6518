import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The findings for `doctor`.
struct StoreCheckTests {
    private func problems(_ store: SQLiteKeyStore) -> [Finding] { store.check().filter { $0.severity != .note } }

    @Test(arguments: StoreKind.allCases)
    func aSoundStoreHasNoProblems(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        try store.add()
        _ = try store.generateProviderKey(at: start)
        let findings = store.check()
        #expect(findings.allSatisfy { $0.severity == .note })
        #expect(findings.contains { $0.message == "the device's state: 1 key, authentic" })
        #expect(findings.contains { $0.message == "the provider's state: 1 key, authentic" })
        #expect(findings.contains { $0.message == "the store can be written" })
    }

    @Test func manyDamagedRowsAreCounted() throws {
        let home = try Home()
        let batch = (0..<2500).map {
            DeviceChange.registered(id: "\($0)", DeviceRegistration(publicKey: .numbered($0), createdAt: start))
        }
        _ = try home.store.importDevices(batch, at: start)
        #expect(problems(home.store).isEmpty)
        try home.raw().execute("UPDATE devices SET generation = 2 WHERE id % 100 = 7")
        let found = problems(home.store)
        #expect(found.count == 11)
        #expect(found.last?.message == "15 more rows of table devices are damaged")
    }

    /// A state that is authentic, with a secret that is another's: of each kind but answer secrets, which have no public half.
    @Test(arguments: [0, 1, 2, 3, 4]) func aProviderSecretThatIsNotOfItsKeyIsFound(_ number: Int) throws {
        let home = try Home()
        let key = ProviderKey()
        _ = try home.store.importProviderKey(key, topic: .app, at: start)
        _ = try home.store.rotateSigningKey(at: start)
        _ = try home.store.requestCertificate(at: start)
        _ = try home.store.addPushKey(at: start)
        let pairing = try PairingCode(url: "https://home.example.net/pair", provider: key.publicKey)
        try home.store.addPairing(pairing, topic: .app, provider: key.publicKey, at: start)
        #expect(problems(home.store).isEmpty)
        let form = try home.store.provider().form
        var secrets = form.secrets
        #expect(secrets.count == 5)
        let other = Bytes(repeating: 7, count: secrets[number].withSpan { $0.count })
        secrets[number] = Secret(copying: other.span)
        let changed = SecretForm(secrets: secrets, json: form.json).bytes()
        _ = try home.store.write { (store) throws(KeyStoreError) in
            let state = try changed.withSpan { (form) throws(KeyStoreError) in try ProviderState(parsing: form) }
            try store.replace(store.provider(), with: state)
        }
        #expect(problems(home.store).map(\.severity) == [.error])
        let use: [() throws -> Any] = [
            { try home.store.providerSecret() }, { try home.store.signer() },
            { try home.store.installCertificate(certified(), at: start) }, { try home.store.pushSecrets(at: start) },
            { try home.store.provider().pairings[0].exchange() },
        ]
        func certified() throws -> SignedCertificate {
            let waiting = try #require(try home.store.provider().keys[0].request)
            return try CertificateRequest(
                topic: waiting.topic, provider: key.publicKey, signingKey: waiting.publicKey,
                current: try home.store.providerKey().certificate
            ).certify(by: key, at: start + 1)
        }
        for (place, use) in use.enumerated() { #expect(code(use) == (place == number ? .corruptStore : nil)) }
    }

    /// A state that is authentic, with a secret that is another's.
    @Test func aDeviceSecretThatIsNotOfItsKeyIsFound() throws {
        let home = try Home()
        try home.store.add()
        let other = try #require(DeviceKey().withScalar { Secret(copying: $0) } as Secret?)
        try home.store.change { state in
            let key = state.keys[0]
            state.accounts[0].keys[0] = DeviceState.Key(
                publicKey: key.publicKey, generation: 1, state: .active, createdAt: start, secret: other)
        }
        #expect(problems(home.store).map(\.severity) == [.error])
    }

    /// Also by a process that has read the state before.
    @Test func aDamagedStateIsFound() throws {
        let home = try Home()
        try home.store.add()
        try home.raw().execute("UPDATE states SET sealed = zeroblob(length(sealed))")
        #expect(problems(home.store).map(\.severity) == [.error])
    }

    /// Litestream reads for as long as it runs, so that nobody empties the log.
    @Test func somebodyWhoKeepsReadingIsNoProblem() throws {
        let home = try Home(options: .impatient)
        let reader = try home.raw()
        try reader.execute("BEGIN; SELECT count(*) FROM devices")
        try home.store.setSetting("a", named: "title")
        #expect(problems(home.store).isEmpty)
        try reader.execute("COMMIT")
    }

    /// It may be an import, so it is no error.
    @Test func aWriterThatDoesNotEndIsAWarning() throws {
        let home = try Home(options: .impatient)
        let writer = try home.raw()
        try writer.execute("BEGIN IMMEDIATE")
        #expect(problems(home.store).map(\.severity) == [.warning])
        try writer.execute("ROLLBACK")
    }

    @Test func aFileThatIsDamagedInItsStructureIsFound() throws {
        let home = try Home()
        // The index says nothing about the row.
        try home.raw().execute(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'devices_of_users'")
        #expect(try home.reopened().check().contains { $0.severity == .error })
    }
}

/// Errors as programs and people see them.
struct KeyStoreErrorTests {
    @Test func everyCodeHasANameOfItsOwn() {
        let names = KeyStoreError.Code.allCases.map(\.description)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0 >= UInt8(ascii: "a") } })
    }

    @Test func errorsAreEqualWhenTheirCodesAre() {
        #expect(KeyStoreError(.storeBusy, "a") == KeyStoreError(.storeBusy, "b"))
        #expect(KeyStoreError(.storeBusy, "a") != KeyStoreError(.diskFull, "a"))
    }
}

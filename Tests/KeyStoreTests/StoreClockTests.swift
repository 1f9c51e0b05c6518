import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A clock that is wrong ends no key, and uses up no numbers of epochs.
@Suite struct StoreClockTests {
    private static let hour: UInt64 = 3600
    private static let day: UInt64 = 86_400

    /// A provider whose key was made at `start`.
    private func provider() throws -> Home {
        let home = try Home(.disk)
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        return home
    }

    /// The database alone: SQLite's other files change without a change of the contents.
    private func contents(_ home: Home) throws -> [[SQLiteValue]] {
        try home.store.read { (store) throws(KeyStoreError) in
            try store.connection.rows("SELECT * FROM provider_keys")
                + store.connection.rows("SELECT * FROM past_epochs")
                + store.connection.rows("SELECT * FROM settings") + store.connection.rows("SELECT * FROM device_keys")
        }
    }

    @Test(
        "A clock far from the last change is refused, unless something says that it is right",
        arguments: [
            (-26 * 365, []), (-2, []), (-1, [.unknown, .synchronised]), (0, [.unknown, .synchronised]),
            (29, [.unknown, .synchronised]), (30, [.synchronised]), (400, [.synchronised]), (401, []),
        ] as [(Int, [ClockAssurance])])
    func gaps(_ days: Int, _ admitted: [ClockAssurance]) throws {
        let interval = Interval.days(UInt64(days.magnitude))
        let now = days < 0 ? start.subtracting(interval) : start.adding(interval)
        for clock in [.unknown, .synchronised, .confirmed] as [ClockAssurance] {
            let home = try provider()
            let before = try contents(home)
            let error = code { try home.store.rotateSigningKey(clock: clock, at: now) }
            if clock == .confirmed || admitted.contains(clock) {
                #expect(error == nil)
            } else {
                #expect(error == .implausibleClock)
                #expect(try contents(home) == before)
            }
        }
    }

    @Test("Many registrations by a clock that is ahead do not add up")
    func manyRegistrations() throws {
        for days in [20, 40] as [UInt64] {
            let home = try provider()
            let now = start + days * Self.day
            for number in 0..<50 {
                let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: nil)
                _ = try home.store.addDevice(registration, id: "phone\(number)", at: now)
            }
            #expect(try home.store.lastChange() == start)
            if days > 29 {
                #expect(code { try home.store.rotateSigningKey(at: now) } == .implausibleClock)
            } else {
                #expect(try home.store.rotateSigningKey(at: now).epoch == Self.epoch(start + Self.day))
            }
        }
        // A store in use stays current.
        let home = try provider()
        for day in 1...40 as ClosedRange<UInt64> {
            let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: nil)
            _ = try home.store.addDevice(registration, id: "phone\(day)", at: start + day * Self.day)
        }
        #expect(try home.store.lastChange() == start + 40 * Self.day)
    }

    private static func epoch(_ time: Timestamp) -> UInt32 { UInt32(time.milliseconds / 1000) }

    @Test("A clock that is ahead numbers the epoch a day after the last change, and the grace ends as if it were right")
    func ahead() throws {
        for days in [0, 1, 2, 20, 29] as [UInt64] {
            for isStolen in [false, true] {
                let home = try provider()
                let now = start + days * Self.day
                let record = try home.store.rotateSigningKey(stolen: isStolen, anyway: true, at: now)
                #expect(record.epoch == Self.epoch(min(now, start + Self.day)))
                #expect(record.certificate?.graceUntil == (isStolen ? nil : now + 38 * Self.day))
                #expect(record.certificate?.floor == (isStolen ? record.epoch : 0))
                #expect(record.signsSince == now)
                // The clock was wrong, and is right again: nothing is refused then.
                #expect(try home.store.lastChange() == min(now, start + Self.day))
                #expect(try home.store.rotateSigningKey(at: start + 1).epoch == record.epoch + 1)
            }
        }
    }

    @Test("A clock that is known to be right numbers the epoch")
    func confirmed() throws {
        for (clock, days) in [(.synchronised, 10), (.synchronised, 90), (.confirmed, 20), (.confirmed, 4000)]
            as [(ClockAssurance, UInt64)]
        {
            let home = try provider()
            let now = start + days * Self.day
            #expect(try home.store.rotateSigningKey(clock: clock, at: now).epoch == Self.epoch(now))
        }
        // It was set years ahead once, and is right again: epochs cannot go back, so the store says what is wrong.
        let home = try provider()
        let lost = try home.store.rotateSigningKey(clock: .confirmed, at: start + 4000 * Self.day)
        #expect(try home.store.lastChange() == start + 4000 * Self.day)
        #expect(code { try home.store.rotateSigningKey(at: start + 1) } == .implausibleClock)
        #expect(code { try home.store.rotateSigningKey(clock: .confirmed, at: start + 1) } == .implausibleEpoch)
        #expect(try home.store.providerKey() == lost)
    }

    @Test("A call with nothing to do takes any clock, and keeps a quiet store current")
    func nothingToDo() throws {
        let home = try provider()
        let age = Interval.days(3650)
        for days in 1...100 as ClosedRange<UInt64> {
            let now = start + days * Self.day
            #expect(try home.store.rotateSigningKey(named: nil, topic: nil, ifOlderThan: age, at: now) == nil)
            #expect(try home.store.lastChange() == now)
        }
        let last = start + 100 * Self.day
        // A clock that is ahead moves it by a day, one that is behind not at all.
        #expect(
            try home.store.rotateSigningKey(named: nil, topic: nil, ifOlderThan: age, at: last + 3000 * Self.day) == nil
        )
        #expect(try home.store.lastChange() == last + Self.day)
        #expect(try home.store.rotateSigningKey(named: nil, topic: nil, ifOlderThan: age, at: start) == nil)
        #expect(try home.store.lastChange() == last + Self.day)
        #expect(try home.store.rotateSigningKey(at: last + Self.day).epoch > 0)
    }

    @Test("A key that was made while the clock was ahead does not stay young until then")
    func keyFromTheFuture() throws {
        let home = try provider()
        _ = try home.store.generateDeviceKey(at: start)
        let ahead = start + 20 * Self.day
        _ = try home.store.rotateSigningKey(at: ahead)
        _ = try home.store.rotateDeviceKey(at: ahead)
        let now = start + 2 * Self.day
        #expect(try home.store.rotateSigningKey(named: nil, topic: nil, ifOlderThan: .days(30), at: now) != nil)
        #expect(try home.store.rotateSigningKey(named: nil, topic: nil, ifOlderThan: .days(30), at: now) == nil)
        _ = try home.store.confirmDeviceKey(at: now)
        let device = try home.store.rotateDeviceKey(named: nil, ifOlderThan: .days(30), clock: .unknown, at: now)
        #expect(device?.createdAt == now)
    }

    @Test("The device's keys follow the same rule")
    func devices() throws {
        let store = try Home(.disk).store
        let ages = start.subtracting(.days(9000))
        let early: () -> KeyStoreError.Code? = {
            code { try store.generateDeviceKey(named: "late", topic: nil, clock: .synchronised, at: ages) }
        }
        #expect(early() == .implausibleClock)
        let first = try store.generateDeviceKey(named: "one", topic: nil, clock: .unknown, at: start)
        #expect(
            code { try store.importDeviceKey(DeviceKey(), named: "two", topic: nil, clock: .unknown, at: ages) }
                == .implausibleClock)
        #expect(
            code { try store.rotateDeviceKey(named: nil, ifOlderThan: nil, clock: .unknown, at: ages) }
                == .implausibleClock)
        let second = try #require(
            try store.rotateDeviceKey(named: nil, ifOlderThan: nil, clock: .unknown, at: start + Self.hour))
        // The pending key is there already, whatever the clock shows.
        #expect(try store.rotateDeviceKey(named: nil, ifOlderThan: nil, clock: .unknown, at: ages) == second)
        func confirm(at now: Timestamp) throws -> DeviceKeyRecord? {
            try store.confirmDeviceKey(
                named: nil, acknowledged: nil, grace: .days(31), clock: .unknown, at: now)
        }
        #expect(code { try confirm(at: ages) } == .implausibleClock)
        #expect(code { try confirm(at: start + 40 * Self.day) } == .implausibleClock)
        #expect(try store.deviceKeys().map(\.state) == [.active, .pending])
        // Ten days ahead for a moment: the grace ends ten days later than meant, and never earlier.
        #expect(try confirm(at: start + 10 * Self.day)?.keyID == second.keyID)
        #expect(try store.deviceKeys().map(\.retiresAt) == [start + 41 * Self.day, nil])
        #expect(try confirm(at: ages) == nil)

        // A clock that is 20 days ahead of the last change ends a key only a day after that change.
        var ended: [[KeyID]] = []
        func purge(_ clock: ClockAssurance, at now: Timestamp) throws -> [KeyID] {
            try store.purgeRetiredDeviceKeys(named: nil, clock: clock, at: now) { ended.append($0.map(\.keyID)) }
                .map(\.keyID)
        }
        #expect(code { try purge(.unknown, at: start + 60 * Self.day) } == .implausibleClock)
        #expect(try purge(.unknown, at: start + 20 * Self.day).isEmpty)
        #expect(try store.deviceKeys().count == 2 && ended.isEmpty)
        #expect(try purge(.synchronised, at: start + 60 * Self.day) == [first.keyID])
        #expect(ended == [[first.keyID]])
    }

    @Test("Other changes of the store count too, but not the times in records from elsewhere")
    func otherChanges() throws {
        let home = try provider()
        let store = home.store
        let record = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start + 300 * Self.day)
        for days in 1...40 as ClosedRange<UInt64> {
            try store.addDevice(record, id: "phone", replace: true, at: start + days * Self.day)
        }
        #expect(try store.lastChange() == start + 40 * Self.day)
        #expect(code { try store.rotateSigningKey(at: start + 38 * Self.day) } == .implausibleClock)
        #expect(try store.rotateSigningKey(at: start + 60 * Self.day).epoch > 0)
    }

    @Test("A damaged time is noticed by a change to keys, and stops no registration")
    func damage() throws {
        let home = try provider()
        _ = try home.store.rotateSigningKey(at: start + 1)
        try home.raw().execute("UPDATE settings SET value = '0' WHERE name = '\(StoreClock.setting)'")
        #expect(code { try home.store.rotateSigningKey(at: start) } == .corruptStore)
        let record = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
        #expect(try home.store.addDevice(record, id: "phone", at: start) == .added)
    }

    @Test("Of several processes that find the key old, one rotates it")
    func races() async throws {
        let home = try provider()
        let now = start + 10 * Self.day
        let stores = try (0..<4).map { _ in
            var options = StoreOptions.quick
            options.busyTimeout = 10_000
            return try home.reopened(options: options)
        }
        let rotations = try await withThrowingTaskGroup(of: Bool.self) { group in
            for store in stores {
                group.addTask {
                    try store.rotateSigningKey(named: nil, topic: nil, ifOlderThan: .days(5), at: now) != nil
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(rotations.filter { $0 }.count == 1)
        #expect(try home.store.providerKey().epoch == Self.epoch(start + Self.day))
    }
}

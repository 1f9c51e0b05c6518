import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A removed device is remembered with its user and its last key, so that nobody else takes its id.
struct ReturningDeviceTests {
    private func registration(
        _ key: DevicePublicKey = DeviceKey().publicKey, generation: UInt64 = 1, created: Timestamp? = start + 50
    ) -> DeviceRegistration {
        DeviceRegistration(publicKey: key, generation: generation, createdAt: created)
    }

    private func removed(_ store: SQLiteKeyStore) throws -> [RemovedDevice] {
        var removed: [RemovedDevice] = []
        try store.forEachRemovedDevice { removed.append(try $0.get()) }
        return removed
    }

    /// Alice's device of generation 3, removed.
    private func scene(_ kind: StoreKind = .memory) throws -> (store: SQLiteKeyStore, key: DevicePublicKey) {
        let store = try Home(kind).store
        let key = DeviceKey().publicKey
        _ = try store.addDevice(registration(key, generation: 3), id: "a", owner: .user("alice"), at: start)
        #expect(try store.removeDevice(id: "a", reason: "unregistered", at: start + 10))
        return (store, key)
    }

    @Test(arguments: StoreKind.allCases)
    func aRemovalKeepsUserGenerationAndSuite(_ kind: StoreKind) throws {
        let (store, key) = try scene(kind)
        let last = RemovedDevice.LastKey(generation: 3, suite: .x25519, id: key.id)
        #expect(
            try removed(store) == [
                RemovedDevice(
                    id: "a", removedAt: start + 10, reason: "unregistered", user: "alice", lastKey: last,
                    signing: RemovedDevice.Signing(sequence: (start + 86_410).milliseconds))
            ])
    }

    @Test func anotherUserDoesNotTakeTheID() throws {
        let (store, key) = try scene()
        for owner in [DeviceOwner.user("bob"), .nobody, .unchanged] {
            let new = registration(generation: 4)
            let refusal = error { try store.addDevice(new, id: "a", owner: owner, at: start + 60) }
            #expect(refusal?.code == .userMismatch)
            #expect(refusal?.description.contains("belonged, before it was removed, to user 'alice'") == true)
            #expect(
                try store.addDevices([("a", new, nil, owner)], at: start + 60).map { $0?.code } == [.userMismatch])
            let result = try store.importDevices([.registered(id: "a", new, owner: owner)], at: start + 60)
            #expect(result.refused.map(\.error.code) == [.userMismatch])
        }
        #expect(try removed(store).map(\.id) == ["a"] && store.device(id: "a") == nil)
        // The same user does, with the next key or the last one, and without a word keeps it.
        #expect(try store.addDevice(registration(key, generation: 3), id: "a", at: start + 60) == .added)
        #expect(try store.device(id: "a")?.user == "alice" && removed(store).isEmpty)
    }

    @Test func theOperatorMayGiveTheIDToAnotherUser() throws {
        let (store, _) = try scene()
        #expect(
            try store.addDevice(registration(), id: "a", owner: .user("bob"), replace: true, at: start + 60) == .added)
        #expect(try store.device(id: "a")?.user == "bob" && removed(store).isEmpty)
        let (other, _) = try scene()
        #expect(try other.forgetRemovedDevices(upTo: start + 10) == 1)
        #expect(try other.addDevice(registration(), id: "a", owner: .user("bob"), at: start + 60) == .added)
    }

    @Test(arguments: [(1, false), (2, false), (3, false), (4, true), (1027, true), (1028, false)] as [(UInt64, Bool)])
    func anEarlierKeyDoesNotComeBack(_ generation: UInt64, _ isTaken: Bool) throws {
        let (store, _) = try scene()
        let new = registration(generation: generation)
        let found = code { try store.addDevice(new, id: "a", owner: .user("alice"), at: start + 60) }
        #expect(found == (isTaken ? nil : generation > 3 ? .generationTooHigh : .generationRollback))
        #expect(try removed(store).isEmpty == isTaken)
    }

    @Test func aPostQuantumDeviceDoesNotGoBack() throws {
        let store = try Home(.memory).store
        let last = RemovedDevice.LastKey(generation: 3, suite: .xwing, id: DeviceKey().publicKey.id)
        let removal = RemovedDevice(id: "a", removedAt: start, user: "alice", lastKey: last)
        _ = try store.importDevices([.removed(removal)], at: start)
        let new = registration(generation: 4)
        #expect(code { try store.addDevice(new, id: "a", owner: .user("alice"), at: start + 60) } == .suiteDowngrade)
        let exported = DeviceChange.registered(id: "a", new, owner: .user("alice"), updatedAt: start + 60)
        #expect(try store.importDevices([exported], at: start + 60).stale == 1)
        #expect(try store.device(id: "a") == nil)
    }

    /// Two stores: an old record that was repeated at the other one has a late time.
    @Test(arguments: [(2, false), (3, true), (4, true)] as [(UInt64, Bool)])
    func anExportDoesNotBringAnEarlierKeyBack(_ generation: UInt64, _ isTaken: Bool) throws {
        let (store, _) = try scene()
        let change = DeviceChange.registered(
            id: "a", registration(generation: generation), owner: .user("bob"), updatedAt: start + 60)
        let result = try store.importDevices([change], at: start + 60)
        #expect([result.added, result.stale] == (isTaken ? [1, 0] : [0, 1]))
        #expect(try store.device(id: "a")?.user == (isTaken ? "bob" : nil), "the other store has checked whose it is")
    }

    @Test func aRemovalFromElsewhereKeepsWhatIsKnown() throws {
        let (store, key) = try scene()
        let last = RemovedDevice.LastKey(generation: 3, suite: .x25519, id: key.id)
        // Later, and without details: those of the earlier one stay.
        let later = DeviceChange.removed(RemovedDevice(id: "a", removedAt: start + 20))
        #expect(try store.importDevices([later], at: start + 30).removed == 1)
        #expect(try removed(store).map(\.user) == ["alice"] && removed(store).map(\.lastKey) == [last])
        // Of a device that is here: the device's.
        _ = try store.addDevice(registration(generation: 9), id: "b", owner: .user("bob"), at: start)
        let removal = DeviceChange.removed(RemovedDevice(id: "b", removedAt: start + 20))
        #expect(try store.importDevices([removal], at: start + 30).removed == 1)
        #expect(try removed(store).map(\.user) == ["alice", "bob"])
        #expect(try removed(store).last?.lastKey?.generation == 9)
        #expect(try store.removeDevices([LostDevice(id: "b", at: start + 20)], at: start + 30).unknown == 1)
    }

    @Test func aKeyThatMovesLeavesItsUser() throws {
        let store = try Home(.memory).store
        let held = registration()
        _ = try store.addDevice(held, id: "old", owner: .user("alice"), at: start)
        _ = try store.addDevice(held, id: "new", owner: .user("alice"), at: start + 1)
        #expect(try removed(store).map(\.user) == ["alice"])
        #expect(
            code { try store.addDevice(registration(), id: "old", owner: .user("bob"), at: start) } == .userMismatch)
    }

    @Test func aUserWithInvisibleCharactersIsRefused() throws {
        let store = try Home(.memory).store
        for character in invisible {
            let name = "al\(character)ice"
            #expect(code { try store.addDevice(registration(), id: name, at: start) } == .invalidName)
            #expect(
                code { try store.addDevice(registration(), id: "a", owner: .user(name), at: start) } == .invalidName)
            let removal = DeviceChange.removed(RemovedDevice(id: "a", removedAt: start, user: name))
            #expect(try store.importDevices([removal], at: start).refused.map(\.error.code) == [.invalidName])
        }
    }

    // MARK: Reports

    @Test(arguments: StoreKind.allCases)
    func tokenGrantAndUpdateKeyAreKept(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let updateKey = SigningKey().publicKey
        func registration(_ token: String?, _ environment: PushEnvironment?, _ grant: String?) -> DeviceRegistration {
            var registration = DeviceRegistration(publicKey: .numbered(1), createdAt: start)
            registration.token = token
            registration.environment = environment
            (registration.updateKey, registration.sequence) = (updateKey, 7)
            registration.grant = grant
            return registration
        }
        let first = registration("00ff10", .production, "abc_-")
        #expect(try store.addDevice(first, id: "a", at: start) == .added)
        #expect(try store.addDevice(first, id: "a", at: start) == .unchanged)
        var device = try #require(try store.device(id: "a"))
        #expect(device.token == "00ff10" && device.environment == .production && device.grant == "abc_-")
        #expect(device.updateKey == updateKey && device.sequence == 7)
        #expect(try store.addDevice(registration("00ff11", .production, "abc_-"), id: "a", at: start) == .updated)
        #expect(try store.addDevice(registration("00ff11", .development, "abc_-"), id: "a", at: start) == .updated)
        #expect(try store.addDevice(registration("00ff11", .development, nil), id: "a", at: start) == .unchanged)
        device = try #require(try store.device(id: "a"))
        #expect(device.token == "00ff11" && device.environment == .development && device.grant == "abc_-")
        let result = try store.importDevices(
            [.registered(id: "a", registration("aa", .production, "g"), updatedAt: start + 9)], at: start + 10)
        #expect(result.updated == 1)
        #expect(try store.device(id: "a")?.token == "aa")
    }
}

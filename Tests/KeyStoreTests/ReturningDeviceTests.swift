import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A removed device is remembered with its user and its last key, so that nobody else takes its id.
struct ReturningDeviceTests {
    private func registration(
        _ key: DevicePublicKey = DeviceKey().publicKey, generation: UInt64 = 1
    ) -> DeviceRegistration {
        DeviceRegistration(publicKey: key, generation: generation, createdAt: start + 50)
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
}

import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Properties of a Keychain: it may be locked, lost, left over, forbidden, or changed by someone else.
struct KeychainTests {
    private let keychain = ModelKeychain()
    private static let provider = ProviderKey()

    private func store(
        _ topic: String = "com.example.app", _ group: String = "group", entitledTo groups: String = "group"
    ) throws -> KeychainDeviceStore {
        KeychainDeviceStore(items: keychain.process(groups), accessGroup: group, topic: try Topic(topic))
    }

    /// A store with an active key, a pending one, a retiring one and a pinned provider.
    private func filled() throws -> KeychainDeviceStore {
        let store = try store()
        try store.add(topic: .app)
        try store.rotate()
        try store.confirm()
        try store.rotate()
        try store.change { (state) throws(KeyStoreError) in _ = try state.pin(ProviderPin(Self.provider.publicKey)) }
        return store
    }

    // MARK: Missing, locked and corrupt are three outcomes

    @Test func whereNothingWasEverStoredLookingMakesNothing() throws {
        #expect(try store().load() == nil && store().state() == DeviceState())
        #expect(keychain.data.isEmpty && keychain.writes.isEmpty)
    }

    @Test func beforeTheFirstUnlockTheStoreIsLocked() throws {
        let keys = try filled().keys()
        keychain.restart()
        #expect(code { try store().load() } == .storeLocked)
        #expect(code { try store().add(to: "new") } == .storeLocked)
        #expect(code { try store().rotate() } == .storeLocked)
        keychain.unlock()
        #expect(code { try store().add() } == .nameTaken, "a locked phone made no second key")
        #expect(try store().keys() == keys)
    }

    @Test func aDamagedItemIsCorruptAndStaysUntilItIsDiscarded() throws {
        _ = try filled()
        let sound = try #require(keychain.data.first)
        for data in [[], sound.prefix(15), sound.prefix(16), sound.dropLast(), sound + [0]].map(Bytes.init) {
            keychain.replaceData { _ in data }
            #expect(code { try store().load() } == .corruptStore)
            #expect(code { try store().add(to: "new") } == .corruptStore)
            #expect(keychain.data == [data])
        }
        try store().discard()
        #expect(keychain.data.isEmpty)
        #expect(try store().add().generation == 1)
    }

    @Test func anItemOfANewerVersionIsLeftAlone() throws {
        _ = try filled()
        keychain.replaceData { $0.prefix(16) + [2] + $0.dropFirst(17) }
        let data = keychain.data
        #expect(code { try store().load() } == .newerVersion)
        #expect(code { try store().rotate() } == .newerVersion)
        #expect(keychain.data == data)
    }

    // MARK: No failure makes or changes a key

    private static let statuses: [(Int32, KeyStoreError.Code)] = [
        (-25308, .storeLocked), (-34018, .missingEntitlement), (-50, .inputOutput), (-25291, .inputOutput),
    ]

    @Test(arguments: statuses)
    func aCallThatFailsHasChangedNothing(_ status: Int32, _ expected: KeyStoreError.Code) throws {
        let store = try filled()
        let data = keychain.data
        let changes: [(ModelKeychain.Call, () throws -> Void)] = [
            (.copyMatching, { try store.add(to: "new") }), (.update, { try store.add(to: "new") }),
            (.delete, { try store.discard() }),
        ]
        for (call, change) in changes {
            keychain.fail(call, with: status)
            let failure = error(change)
            #expect(failure?.code == expected)
            if expected == .inputOutput { #expect(failure?.description.contains("\(status)") == true) }
            keychain.fail(call, with: nil)
            #expect(keychain.data == data)
        }
        for (_, change) in changes.dropFirst() { try change() }
        keychain.fail(.add, with: status)
        #expect(code { try store.add() } == expected)
        keychain.fail(.add, with: nil)
        #expect(keychain.data.isEmpty)
    }

    @Test func readingWritesNothing() throws {
        let store = try filled()
        let before = keychain.writes.count
        let message = try TestProvider(Self.provider).opened(with: store.keys()[1].deviceKey())
        let topic = try Topic.app
        // A pending key is given again, a lost reply is confirmed again, a message changes nothing.
        try store.rotate()
        try store.change { (state) throws(KeyStoreError) in
            try state.confirm(acknowledged: KeyID(value: 0), at: start)
            try state.pin(ProviderPin(Self.provider.publicKey))
            state.settle(message, topic: topic, at: start)
            state.purge(endedBefore: start)
        }
        #expect(keychain.writes.count == before)
    }

    /// A Keychain that claims to have nothing, as some do while they start, does not lead to a second key.
    @Test func aKeychainThatForgetsForAMomentMakesNoSecondKey() throws {
        let key = try store().add()
        keychain.fail(.copyMatching, with: -25300)
        #expect(code { try store().add() } == .storeBusy)
        keychain.fail(.copyMatching, with: nil)
        #expect(try store().keys() == [key])
    }

    // MARK: Installations, devices, other apps

    @Test func keysOutliveTheAppAndAreLostOnARestoreToAnotherDevice() throws {
        let keys = try filled().keys()
        #expect(try store().keys() == keys)
        let restored = KeychainDeviceStore(items: keychain.restored().process("group"), topic: try .app)
        #expect(try restored.load() == nil)
        #expect(try restored.add().generation == 1)
    }

    @Test func aProcessOfAnotherGroupFindsNothing() throws {
        _ = try filled()
        #expect(try store("com.example.app", "other", entitledTo: "other").load() == nil)
    }

    @Test func aTargetWithoutTheEntitlementIsToldWhatIsMissing() throws {
        _ = try filled()
        let store = try store("com.example.app", "group", entitledTo: "other")
        for call in [{ _ = try store.load() }, { try store.add() }, { try store.discard() }] as [() throws -> Void] {
            let failure = error(call)
            #expect(failure?.code == .missingEntitlement)
            #expect(failure?.description.contains("access group group") == true)
        }
    }

    /// The release and a debug build of one app, or two apps of one company.
    @Test func noCallOfAnAppChangesAByteOfAnothers() throws {
        let (mine, theirs) = (try store("com.example.app"), try store("com.example.app.debug"))
        let provider = try TestProvider()
        try theirs.add(to: "theirs")
        let item = try #require(keychain.item("com.example.app.debug"))
        let certificate = try provider.certificate(5)
        let message = try provider.opened(with: DeviceKey(), certificate)
        let calls: [() throws -> Void] = [
            { _ = try mine.load() }, { try mine.add() }, { try mine.add(to: "theirs") }, { try mine.rotate() },
            { try mine.confirm() }, { try mine.change { $0.settle(message, topic: provider.topic, at: start) } },
            { try mine.change { _ = $0.purge(endedBefore: Timestamp(milliseconds: .max)) } },
            { try mine.change { _ = $0.removeAccount("theirs") } },
            { _ = try mine.compareAndSwap(DeviceState(), replacing: item.revision) },
            { _ = try mine.compareAndSwap(DeviceState(), replacing: nil) },
            { keychain.replaceData("com.example.app") { _ in [7] } }, { try mine.discard() }, { try mine.discard() },
            { _ = try mine.compareAndSwap(DeviceState(), replacing: item.revision) }, { try mine.add(to: "theirs") },
        ]
        for (number, call) in calls.enumerated() {
            #expect(code(call) == nil)
            let after = try #require(keychain.item("com.example.app.debug"))
            #expect(after == item, "call \(number)")
        }
        #expect(try theirs.keys().count == 1 && mine.keys().count == 1)
    }

    // MARK: Others at the same time

    @Test func aChangeByAnotherProcessIsNotUndone() throws {
        let (mine, theirs) = (try filled(), try store())
        keychain.before(.update) { _ = try? theirs.add(to: "theirs") }
        try mine.add(to: "mine")
        #expect(try mine.state().accounts.map(\.name) == ["default", "theirs", "mine"])
        try mine.discard()
        keychain.before(.add) { _ = try? theirs.add() }
        #expect(code { try mine.add() } == .nameTaken, "two that make the first key get one")
        #expect(try mine.keys().count == 1)
    }

    @Test func anItemThatIsDeletedInBetweenStaysDeleted() throws {
        let (mine, theirs) = (try filled(), try store())
        keychain.before(.update) { try? theirs.discard() }
        #expect(code { try mine.confirm() } == .unknownName)
        #expect(keychain.data.isEmpty)
    }

    // MARK: Secrets

    @Test func aPurgedSecretIsNotInTheItem() throws {
        let (old, store) = (DeviceKey(), try store())
        try store.add(old)
        #expect(keychain.data[0].contains(old.scalar))
        try store.rotate()
        try store.confirm()
        #expect(keychain.data[0].contains(old.scalar))
        #expect(try store.change { $0.purge(endedBefore: start.next) }.count == 1)
        #expect(!keychain.data[0].contains(old.scalar))
    }

    @Test func aSecretOnItsWayIsNotPrinted() throws {
        let bytes = Bytes("very secret".utf8)
        let value = KeychainValue.secret(KeychainSecret(SecretBytes(copying: bytes.span)))
        var text = "\(value) \(String(reflecting: value))"
        dump(value, to: &text)
        #expect(!text.contains("very") && !text.contains("118"))
    }
}

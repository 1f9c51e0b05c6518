import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Properties of a Keychain: it may be locked, lost, left over, forbidden, or changed by someone else.
struct KeychainTests {
    private let keychain = ModelKeychain()

    private func store(_ group: String = "group", entitledTo groups: String = "group") -> KeychainKeyStore {
        KeychainKeyStore(items: keychain.process(groups), accessGroup: group)
    }

    /// A store with an active key, a pending one, a retiring one and a pinned provider.
    private func filled() throws -> KeychainKeyStore {
        let store = store()
        _ = try store.generateDeviceKey(topic: .app, at: start)
        _ = try store.rotateDeviceKey(at: start + 1)
        _ = try store.confirmDeviceKey(grace: .seconds(60), at: start + 2)
        _ = try store.rotateDeviceKey(at: start + 3)
        try store.pinProvider(Self.provider.publicKey, at: start)
        return store
    }

    private static let provider = ProviderKey()

    // MARK: Missing, locked and corrupt are three outcomes

    @Test func whereNoKeyWasEverMadeTheStoreIsMissing() throws {
        #expect(code { try store().deviceKey(id: KeyID(value: 1), at: start) } == .storeMissing)
        #expect(code { try store().trust(for: .app, account: "default") } == .storeMissing)
        #expect(try store().deviceKeys().isEmpty && store().pinnedProviders().isEmpty)
        #expect(keychain.data.isEmpty, "looking makes nothing")
    }

    @Test func aKnownStoreHasNoKeyOfAnotherID() throws {
        let record = try store().generateDeviceKey(at: start)
        #expect(try store().deviceKey(id: KeyID(value: record.keyID.value ^ 1), at: start) == nil)
    }

    @Test func whoTrustsSomebodyBeforeTheFirstKeyHasAStoreWithoutKeys() throws {
        try store().pinProvider(Self.provider.publicKey, at: start)
        #expect(try store().deviceKey(id: KeyID(value: 1), at: start) == nil)
        #expect(try store().trust(for: .app, account: "default").pinned == [Self.provider.publicKey])
        #expect(try store().generateDeviceKey(at: start).isDefault)
    }

    @Test func beforeTheFirstUnlockTheStoreIsLocked() throws {
        let records = try filled().deviceKeys()
        keychain.restart()
        #expect(code { try store().deviceKey(id: records[0].keyID, at: start) } == .storeLocked)
        #expect(code { try store().trust(for: .app, account: "default") } == .storeLocked)
        #expect(code { try store().deviceKeys() } == .storeLocked)
        keychain.unlock()
        #expect(try store().deviceKeys() == records)
    }

    @Test func aDamagedItemIsCorruptAndStaysUntilTheAppDeletesIt() throws {
        let id = try filled().deviceKeys()[0].keyID
        keychain.replaceData { $0.dropLast() + [$0.last.map { $0 ^ 1 } ?? 0] }
        let damaged = keychain.data
        #expect(code { try store().deviceKey(id: id, at: start) } == .corruptStore)
        #expect(code { try store().trust(for: .app, account: "default") } == .corruptStore)
        #expect(code { try store().generateDeviceKey(named: "new", at: start) } == .corruptStore)
        #expect(keychain.data == damaged)
        try store().purgeEverything()
        #expect(try store().generateDeviceKey(at: start).generation == 1)
    }

    @Test func anItemOfANewerVersionIsLeftAlone() throws {
        _ = try filled()
        keychain.replaceData { [6] + $0.dropFirst() }
        let data = keychain.data
        #expect(code { try store().deviceKeys() } == .newerVersion)
        #expect(code { try store().rotateDeviceKey(at: start) } == .newerVersion)
        #expect(keychain.data == data)
    }

    // MARK: No failure makes or changes a key

    private static let changes: [@Sendable (KeychainKeyStore) throws -> Void] = [
        { _ = try $0.generateDeviceKey(named: "new", at: start) },
        { _ = try $0.importDeviceKey(DeviceKey(), named: "new", at: start) },
        { _ = try $0.confirmDeviceKey(at: start) },
        { _ = try $0.purgeDeviceKeys(named: nil) },
        { _ = try $0.pinProvider(ProviderKey().publicKey, at: start) },
        { _ = try $0.unpinProvider(provider.publicKey, for: "default") },
        { try $0.purgeEverything() },
        { _ = try $0.removeAccount("default") },
        { try $0.setPins([ProviderPin(ProviderKey().publicKey)], for: "default", topic: .app, at: start) },
        { store in
            let pending = try #require(try store.deviceKeys().last)
            try store.settle(
                openedWith: pending.publicKey, provider: provider.publicKey, certificate: nil, topic: .app, at: start)
        },
    ]

    private static let statuses: [(Int32, KeyStoreError.Code)] = [
        (-25308, .storeLocked), (-34018, .missingEntitlement), (-50, .inputOutput), (-25291, .inputOutput),
    ]

    @Test(arguments: changes.indices, statuses)
    func aCallThatFailsHasChangedNothing(_ change: Int, _ status: (Int32, KeyStoreError.Code)) throws {
        let store = try filled()
        let (records, data) = (try store.deviceKeys(), keychain.data)
        for call in [.update, .delete] as [ModelKeychain.Call] { keychain.fail(call, with: status.0) }
        let failure = error { try Self.changes[change](store) }
        #expect(failure?.code == status.1)
        if status.1 == .inputOutput { #expect(failure?.description.contains("\(status.0)") == true) }
        for call in [.update, .delete] as [ModelKeychain.Call] { keychain.fail(call, with: nil) }
        #expect(keychain.data == data)
        #expect(try store.deviceKeys() == records)
        try Self.changes[change](store)
        #expect(keychain.data != data)
    }

    /// What was learned is there before the pin that came with it: never a pin that believes an old certificate.
    @Test func whatWasLearnedIsWrittenBeforeThePin() throws {
        let provider = try TestProvider()
        let certificate = try provider.certificate(5, floor: 5)
        let store = store()
        keychain.before(.add) {}
        keychain.before(.add) { keychain.fail(.add, with: -50) }
        func pin() throws {
            try store.pinProvider(provider.publicKey, certificate: certificate, topic: .app, at: start)
        }
        #expect(code { try pin() } == .inputOutput)
        #expect(keychain.data.count == 1)
        #expect(try store.pinnedProviders().isEmpty)
        keychain.fail(.add, with: nil)
        try store.pinProvider(provider.publicKey, topic: .app, at: start)
        #expect(try store.trust(for: .app, account: "default").learned == LearnedTrust(certificate))
    }

    /// Two processes learn at the same time: each starts over, and neither undoes the other.
    @Test func whatAnotherProcessHasLearnedInBetweenIsNotUndone() throws {
        let provider = try TestProvider()
        let (mine, theirs) = (store(), store())
        try mine.pinProvider(provider.publicKey, certificate: provider.certificate(1), topic: .app, at: start)
        let (high, floor) = (try provider.certificate(9), try provider.certificate(5, floor: 5))
        keychain.before(.update) {
            _ = try? theirs.acceptCertificate(high, of: provider.publicKey, topic: provider.topic, at: start)
        }
        #expect(try mine.acceptCertificate(floor, of: provider.publicKey, topic: .app, at: start) == .raised)
        #expect(
            try mine.trust(for: .app, account: "default").learned == LearnedTrust(high, floor: 5))
    }

    @Test func aDamagedItemOfWhatWasLearnedIsDeletedWithEverything() throws {
        let provider = try TestProvider()
        let store = store()
        try store.pinProvider(provider.publicKey, certificate: provider.certificate(1), topic: .app, at: start)
        keychain.replaceData("learned") { $0.dropLast() + [$0.last.map { $0 ^ 1 } ?? 0] }
        #expect(code { try store.trust(for: .app, account: "default") } == .corruptStore)
        #expect(try store.pinnedProviders().count == 1, "what does not need it goes on")
        try store.purgeEverything()
        #expect(keychain.data.isEmpty)
    }

    @Test func readingWritesNothing() throws {
        let store = try filled()
        let before = keychain.writes.count
        let records = try store.deviceKeys()
        for record in records { _ = try store.deviceKey(id: record.keyID, at: start) }
        _ = try (store.trust(for: .app, account: "default"), store.pinnedProviders(), store.deviceKeys(named: nil))
        // A pending key is given again, a lost reply is confirmed again, a message changes nothing.
        _ = try store.rotateDeviceKey(at: start)
        _ = try store.confirmDeviceKey(acknowledged: KeyID(value: 0), at: start)
        try store.settle(
            openedWith: records[1].publicKey, provider: Self.provider.publicKey, certificate: nil, topic: .app,
            at: start)
        #expect(keychain.writes.count == before)
    }

    @Test func aLockedPhoneMakesNoSecondKey() throws {
        let key = try store().generateDeviceKey(at: start)
        keychain.restart()
        #expect(code { try store().generateDeviceKey(at: start) } == .storeLocked)
        #expect(code { try store().rotateDeviceKey(at: start) } == .storeLocked)
        keychain.unlock()
        #expect(code { try store().generateDeviceKey(at: start) } == .nameTaken)
        #expect(try store().deviceKeys() == [key])
        #expect(try store().rotateDeviceKey(at: start).generation == 2)
    }

    /// A Keychain that claims to have nothing, as some do while they start, does not lead to a second key either.
    @Test func aKeychainThatForgetsForAMomentMakesNoSecondKey() throws {
        let key = try store().generateDeviceKey(at: start)
        keychain.fail(.copyMatching, with: -25300)
        #expect(code { try store().generateDeviceKey(at: start) } == .storeBusy)
        keychain.fail(.copyMatching, with: nil)
        #expect(try store().deviceKeys() == [key])
    }

    // MARK: Installations and devices

    @Test func keysOutliveTheAppAndAreFoundByTheNextInstallation() throws {
        let records = try filled().deviceKeys()
        let next = store()
        #expect(try next.deviceKeys() == records)
        try next.purgeEverything()
        #expect(keychain.data.isEmpty)
        #expect(try next.deviceKeys().isEmpty && next.pinnedProviders().isEmpty)
        try next.purgeEverything()
    }

    @Test func keysAreLostOnARestoreToAnotherDevice() throws {
        let id = try filled().deviceKeys()[0].keyID
        let restored = KeychainKeyStore(items: keychain.restored().process("group"), accessGroup: "group")
        #expect(code { try restored.deviceKey(id: id, at: start) } == .storeMissing)
        #expect(try restored.generateDeviceKey(at: start).generation == 1)
    }

    // MARK: Access groups

    @Test func aProcessOfAnotherGroupFindsNothing() throws {
        let id = try filled().deviceKeys()[0].keyID
        #expect(code { try store("other", entitledTo: "other").deviceKey(id: id, at: start) } == .storeMissing)
    }

    @Test func aTargetWithoutTheEntitlementIsToldWhatIsMissing() throws {
        let id = try filled().deviceKeys()[0].keyID
        let failure = error { try store("group", entitledTo: "other").deviceKey(id: id, at: start) }
        #expect(failure?.code == .missingEntitlement)
        #expect(failure?.description.contains("access group group") == true)
        #expect(code { try store("group", entitledTo: "other").generateDeviceKey(at: start) } == .missingEntitlement)
    }

    @Test func twoServicesOfAGroupAreTwoStores() throws {
        let items = keychain.process("group")
        let one = KeychainKeyStore(items: items, accessGroup: "group", service: "one")
        let two = KeychainKeyStore(items: items, accessGroup: "group", service: "two")
        let record = try one.generateDeviceKey(at: start)
        #expect(try one.deviceKeys() == [record] && two.deviceKeys().isEmpty)
    }

    // MARK: Others at the same time

    @Test func whatAnotherProcessDidInBetweenIsNotUndone() throws {
        let (mine, theirs) = (try filled(), store())
        keychain.before(.update) { _ = try? theirs.generateDeviceKey(named: "theirs", at: start) }
        _ = try mine.generateDeviceKey(named: "mine", at: start)
        #expect(Set(try mine.deviceKeys().map(\.name)) == ["default", "mine", "theirs"])
    }

    @Test func twoThatMakeTheFirstKeyGetOne() throws {
        let (mine, theirs) = (store(), store())
        keychain.before(.add) { _ = try? theirs.generateDeviceKey(at: start) }
        #expect(code { try mine.generateDeviceKey(at: start) } == .nameTaken)
        #expect(try mine.deviceKeys().count == 1)
    }

    @Test func aStoreThatIsDeletedInBetweenStaysDeleted() throws {
        let (mine, theirs) = (try filled(), store())
        keychain.before(.update) { try? theirs.purgeEverything() }
        #expect(code { try mine.setDefaultDeviceKey(named: "default") } == nil, "changes nothing")
        #expect(code { try mine.unpinProvider(Self.provider.publicKey, for: "default") } == nil)
        #expect(keychain.data.isEmpty)
        #expect(code { try mine.rotateDeviceKey(at: start) } == .unknownName)
    }

    @Test func manyThreadsLoseNothing() async throws {
        let stores = (0..<8).map { _ in store() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (writer, store) in stores.enumerated() {
                group.addTask {
                    for round in 0..<3 {
                        _ = try store.generateDeviceKey(named: "\(writer).\(round)", at: start)
                        _ = try store.rotateDeviceKey(named: "\(writer).\(round)", at: start)
                        _ = try store.confirmDeviceKey(named: "\(writer).\(round)", at: start)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try stores[0].deviceKeys().map(\.state)
                == Array(repeating: [.retiring, .active], count: 24).flatMap(\.self))
    }

    // MARK: Secrets

    @Test func aPurgedSecretIsNotInTheItem() throws {
        let (old, store) = (DeviceKey(), store())
        _ = try store.importDeviceKey(old, at: start)
        #expect(keychain.data[0].contains(old.scalar))
        _ = try store.rotateDeviceKey(at: start)
        _ = try store.confirmDeviceKey(grace: .seconds(0), at: start)
        #expect(try store.purgeRetiredDeviceKeys(at: start.next).count == 1)
        #expect(!keychain.data[0].contains(old.scalar))
    }

    @Test func anExtensionDeletesTheKeysOfEveryNameInOneChange() throws {
        let store = store()
        for name in ["anna", "ben"] {
            _ = try store.generateDeviceKey(named: name, at: start)
            _ = try store.rotateDeviceKey(named: name, at: start)
            _ = try store.confirmDeviceKey(named: name, grace: .seconds(0), at: start)
        }
        let before = keychain.writes.count
        #expect(try store.purgeRetiredDeviceKeys(at: start + 90_000, accepted: start + 90_000).count == 2)
        #expect(keychain.writes.count == before + 1)
        #expect(try store.purgeRetiredDeviceKeys(at: start + 90_000, accepted: start + 90_000).isEmpty)
        #expect(keychain.writes.count == before + 1)
    }

    @Test func aSecretOnItsWayIsNotPrinted() throws {
        let bytes = Bytes("very secret".utf8)
        let value = KeychainValue.secret(KeychainSecret(SecretBytes(copying: bytes.span)))
        var text = "\(value) \(String(reflecting: value))"
        dump(value, to: &text)
        #expect(!text.contains("very") && !text.contains("118"))
    }
}

import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// Unreadable state neither makes nor deletes a key; interrupted work continues.
@Suite struct EnrolmentFaultTests {
    // MARK: Stores

    static let passing: Set<KeyStoreError.Code> = [.storeLocked, .storeBusy, .diskFull, .inputOutput]

    /// Before the first unlock, and whatever else keeps a store from being read: whether there is a state or not.
    @Test(arguments: KeyStoreError.Code.allCases, [false, true])
    func aStoreThatCannotBeReadIsLeftAlone(_ code: KeyStoreError.Code, hasState: Bool) throws {
        let phone = try Installation(.sqlite)
        if hasState { try phone.launch(with: Provider()) }
        let writes = phone.store.writes
        phone.store.fail(with: KeyStoreError(code, "because"))
        switch phone.reconcile(at: .start) {
        case .plan(let plan): Issue.record("\(plan)")
        case .later(let obstacle):
            #expect(Self.passing.contains(code))
            #expect(obstacle.code == code.description)
            #expect(obstacle.description == "because")
        case .blocked(let obstacle):
            #expect(!Self.passing.contains(code))
            #expect(obstacle.code == code.description)
        }
        #expect(phone.store.writes == writes)
    }

    /// The Keychain knows that there is an item before the first unlock, and not what it holds.
    @Test(arguments: [false, true]) func beforeTheFirstUnlock(hasState: Bool) throws {
        let keychain = ModelKeychain()
        let phone = try Installation(.keychain)
        phone.store = FailingStore(
            KeychainKeyStore(items: keychain.process("group.app"), accessGroup: "group.app", service: "pushcrypt"))
        let provider = try Provider()
        try phone.launch(with: provider)
        let (keys, file) = (try phone.keys(), phone.file)
        if !hasState { phone.file = nil }
        keychain.restart()
        guard case .later(let obstacle) = phone.reconcile(at: .start) else { throw Unexpected() }
        #expect(obstacle.code == "store-locked")
        keychain.unlock()
        phone.file = file
        #expect(try phone.keys() == keys)
        #expect(try phone.launch(with: provider) == "register-again(provider-changed)")
    }

    /// A device that was set up from a backup has another Keychain, without the items of this device only.
    @Test func theKeychainOfARestoredPhoneHasNoKeys() throws {
        let keychain = ModelKeychain()
        func store(_ keychain: ModelKeychain) -> FailingStore {
            FailingStore(
                KeychainKeyStore(items: keychain.process("group.app"), accessGroup: "group.app", service: "pushcrypt"))
        }
        let provider = try Provider()
        let phone = try Installation(.keychain)
        phone.store = store(keychain)
        try phone.launch(with: provider)
        phone.store = store(keychain.restored())
        #expect(try phone.launch(with: provider) == "register-again(keys-lost)")
        #expect(try provider.devices.count == 2)
    }

    // MARK: States

    @Test func aStateThatCannotBeReadIsNotAFirstRun() throws {
        let phone = try Installation(.sqlite)
        try phone.launch(with: Provider())
        let writes = phone.store.writes
        phone.fileIsReadable = false
        guard case .later(let obstacle) = phone.reconcile(at: .start) else { throw Unexpected() }
        #expect(obstacle.code == "unreadable-enrolment")
        #expect(phone.store.writes == writes)
    }

    /// This installation has written it, so its keys are kept; only the device id is lost.
    @Test(
        arguments: StoreKind.allCases, ["", "{", #"{"version":1}"#, #"{"version":0,"accounts":[],"ends":[]}"#])
    func aDamagedStateKeepsTheKeys(_ kind: StoreKind, _ text: String) throws {
        var provider = try Provider()
        provider.user = "alice"
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let (device, keys) = (try phone.device(), try phone.keys())
        phone.file = Bytes(text.utf8)
        #expect(try phone.launch(with: provider) == "register, notice(damaged-enrolment)")
        #expect(try phone.keys() == keys)
        #expect(try phone.device() != device)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        // The key has moved to the new id.
        #expect(try provider.devices.map(\.id) == [phone.device()])
    }

    /// An app that has used its key store without enrolment says so with an empty state.
    @Test(arguments: StoreKind.allCases) func anEmptyStateKeepsTheKeys(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        _ = try phone.store.generateDeviceKey(at: .start)
        let keys = try phone.keys()
        phone.file = EnrolmentState().json
        #expect(try phone.launch(with: provider) == "register")
        #expect(try phone.keys() == keys)
    }

    // MARK: Interruptions

    /// In days: at once, or when the key has become too old.
    static let pauses: [UInt64] = [0, 31]

    /// Every order of two launches, each with something that goes wrong and a pause before the second. After each of them:
    /// what the provider seals to opens, but for devices that the phone never saw acknowledged and that a restart gave up;
    /// the device has one key that can be registered. Two undisturbed launches later everything is in order.
    @Test(arguments: StoreKind.allCases, Mishap.allCases)
    func whateverIsInterruptedGoesOn(_ kind: StoreKind, _ first: Mishap) throws {
        for second in Mishap.allCases {
            for pause in Self.pauses { try check(kind, [(first, 0), (second, pause)]) }
        }
    }

    private func check(_ kind: StoreKind, _ path: [(Mishap, UInt64)]) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        var now = Timestamp.start
        for (mishap, pause) in path {
            now = now.plus(days: pause)
            try phone.launch(with: provider, mishap, at: now)
            #expect(try phone.keys().filter { $0.state == .pending }.count <= 1)
            #expect(try phone.keys().filter { $0.state == .active }.count == 1)
            for device in try provider.devices {
                #expect(try phone.store.deviceKey(id: device.publicKey.id, at: now) != nil, "\(path)")
            }
        }
        var plans: [String] = []
        while plans.count < 3, plans.last != "nothing" { plans.append(try phone.launch(with: provider, at: now)) }
        #expect(plans.last == "nothing", "\(path)")
        #expect(try phone.keys().last?.state == .active)
        #expect(try provider.devices.count == 1)
        #expect(try phone.receive(provider.push(to: phone.device(), at: now), at: now) == "opened", "\(path)")
    }
}

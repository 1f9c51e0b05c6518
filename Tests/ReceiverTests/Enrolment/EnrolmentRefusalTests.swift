import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// What a phone does when its provider refuses the registration, or says that it trusts somebody else. [D-48, D-21]
@Suite struct EnrolmentRefusalTests {
    /// The app does not log out, and somebody else logs in: neither gets the other's device.
    @Test(arguments: StoreKind.allCases) func aPhoneThatChangesHandsIsAnotherDevice(_ kind: StoreKind) throws {
        var provider = try Provider()
        provider.user = "alice"
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        let (alices, key) = (try phone.device(), try phone.keys())

        provider.user = "bob"
        phone.circumstances.pushToken = [1]
        #expect(try phone.launch(with: provider) == "register-again(token-changed)")
        #expect(phone.results.last?.key == .refused(.userMismatch))
        #expect(try phone.keys() == [])
        #expect(try phone.launch(with: provider) == "register")
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try phone.keys() != key)
        #expect(try phone.launch(with: provider) == "nothing")

        #expect(try provider.store.device(id: alices)?.user == "alice")
        #expect(try provider.store.device(id: phone.device())?.user == "bob")
        #expect(try provider.devices.count == 2)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        #expect(try phone.receive(provider.push(to: alices, at: .start)) == "unknown-recipient-key")
    }

    @Test(arguments: StoreKind.allCases) func aKeyThatAnotherDeviceHasIsReplaced(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider, .recordLost)
        let (device, key) = (try phone.device(), try #require(try phone.keys().first))
        let other = DeviceRegistration(publicKey: key.publicKey, createdAt: .start)
        try provider.store.addDevice(other, id: "other", owner: .user("mallory"), at: .start)

        try phone.launch(with: provider)
        #expect(phone.results.last == EnrolmentResult(key: .refused(.keyTaken)))
        #expect(try phone.keys() == [])
        #expect(try phone.state.ends == [])
        #expect(try phone.launch(with: provider) == "register")
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try phone.device() != device)
        #expect(try phone.keys().map(\.publicKey) != [key.publicKey])
        #expect(try provider.store.device(id: "other")?.publicKey == key.publicKey)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            (.generationRollback, true), (.generationTooHigh, true), (.suiteDowngrade, true), (.userMismatch, false),
            (.keyTaken, false),
        ]
            as [(RegistrationReply.Refusal, isEnded: Bool)])
    func whatIsRefusedIsGivenUpAndMadeAgain(
        _ kind: StoreKind, _ step: (refusal: RegistrationReply.Refusal, isEnded: Bool)
    ) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let (device, keys, pins) = (try phone.device(), try phone.keys(), try phone.pins)
        try refuse(phone, step.refusal)
        #expect(try phone.keys() == [])
        #expect(try phone.state.account("default") == nil)
        // An id that is another's stays theirs.
        #expect(try phone.state.ends.map(\.device) == (step.isEnded ? [device] : []))
        #expect(try phone.launch(with: provider) == (step.isEnded ? "end(\(device)), register" : "register"))
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try phone.device() != device)
        #expect(try phone.keys() != keys && phone.keys().map(\.generation) == [1])
        #expect(try phone.pins == pins && pins.count == 1)
        #expect(try provider.devices.map(\.id).contains(device) == !step.isEnded)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
    }

    /// The store fails when the keys are to go: nothing has changed, and the next refusal does it.
    @Test(arguments: StoreKind.allCases) func aRefusalThatTheStoreDoesNotTakeComesAgain(_ kind: StoreKind) throws {
        let phone = try Installation(kind)
        try phone.launch(with: Provider())
        let (state, keys) = (try phone.state, try phone.keys())
        for refusal in [RegistrationReply.Refusal.keyTaken, .generationTooHigh] {
            phone.store.fail(with: KeyStoreError(.diskFull, ""), onlyWrites: true)
            #expect(throws: KeyStoreError.self) { try refuse(phone, refusal) }
            phone.store.fail(with: nil)
            #expect(try phone.device() == state.account("default")?.device && phone.state.ends == [])
            #expect(try phone.keys() == keys)
        }
    }

    /// It is told, and trusts whom it trusted.
    @Test(arguments: StoreKind.allCases) func aForeignProviderIsToldAndStaysTrusted(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        let foreign = ProviderKey().publicKey
        phone.firstTrust = .builtIn([ProviderPin(foreign)])
        try phone.launch(with: provider)
        #expect(phone.results.last?.key == .acknowledged)
        #expect(phone.results.last?.foreign == [.provider])
        #expect(phone.results.last.map { "\($0)" } == "acknowledged, foreign-provider")
        #expect(try phone.pins == [foreign])
    }

    /// A request is delayed, and the phone has made another key since: the refusal of the old one deletes nothing.
    @Test(arguments: StoreKind.allCases) func aLateRefusalDeletesNoNewerKey(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        phone.circumstances.pushToken = [1]
        guard case .plan(let plan) = phone.reconcile(at: .start) else { throw Unexpected() }
        let late = try #require(try phone.enrolment.begin(plan, at: .start).request)
        _ = try phone.store.rotateDeviceKey(named: nil, at: .start)
        try phone.launch(with: provider)
        let keys = try phone.keys()
        var state = try phone.state
        let result = try phone.enrolment.handle(
            RegistrationReply(.refused(.generationRollback)), to: late, state: &state, at: .start)
        #expect(result == EnrolmentResult(key: .anotherKey))
        #expect(try phone.keys() == keys && keys.count == 2 && state.json == phone.file)
    }

    /// Registers once more, and gets this refusal.
    private func refuse(_ phone: Installation, _ refusal: RegistrationReply.Refusal) throws {
        phone.circumstances.pushToken = [UInt8.random(in: 0...255), 2]
        guard case .plan(let plan) = phone.reconcile(at: .start) else { throw Unexpected() }
        var work = try phone.enrolment.begin(plan, at: .start)
        let request = try #require(work.request)
        defer { phone.file = work.state.json }
        let result = try phone.enrolment.handle(
            RegistrationReply(.refused(refusal)), to: request, state: &work.state, at: .start)
        #expect(result == EnrolmentResult(key: .refused(refusal)))
    }
}

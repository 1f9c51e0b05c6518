import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// A second account on one phone, and what remains of one that has logged out.
@Suite(.serialized) struct EnrolmentAccountTests {
    @Test(arguments: StoreKind.allCases) func secondAccountOnOnePhone(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        phone.account = "second"
        #expect(try phone.launch(with: provider) == "register")
        #expect(phone.results.map(\.provider) == [.pinned, .pinned])
        #expect(try Set(["default", "second"].map(phone.device)).count == 2)
        for account in ["default", "second"] {
            #expect(try phone.receive(provider.push(to: phone.device(account), at: .start)) == "opened")
        }
        // Each says at its next launch whom it trusts.
        #expect(try phone.launch(with: provider) == "register-again(provider-changed)")
        phone.account = "default"
        #expect(try phone.launch(with: provider) == "register-again(provider-changed)")
    }

    /// The keys go at once, without a grace, and without a network.
    @Test(arguments: StoreKind.allCases) func logOut(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        phone.account = "second"
        try phone.launch(with: provider)
        let device = try phone.device("second")
        let push = try provider.push(to: device, at: .start)
        try phone.logOut()
        #expect(try phone.keys("second") == [])
        #expect(try phone.receive(push) == "unknown-recipient-key")
        #expect(try phone.state.withdrawals.map(\.device) == [device])
        try phone.logOut()
        #expect(try phone.state.withdrawals.map(\.device) == [device])

        // The other account goes on, and tells the provider.
        phone.account = "default"
        #expect(try phone.launch(with: provider) == "withdraw(\(device)), register-again(provider-changed)")
        #expect(try provider.store.device(id: device) == nil)
        #expect(try phone.launch(with: provider) == "nothing")
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")

        // A phone that logs in again is a new device.
        phone.account = "second"
        #expect(try phone.launch(with: provider) == "register")
        #expect(try phone.device("second") != device)
    }

    @Test(arguments: StoreKind.allCases) func aLogOutThatTheStoreInterruptsIsRepeated(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let device = try phone.device()
        phone.store.fail(with: KeyStoreError(.diskFull, ""), onlyWrites: true)
        #expect(throws: KeyStoreError(.diskFull, "")) { try phone.logOut() }
        #expect(try phone.device() == device)
        phone.store.fail(with: nil)
        try phone.logOut()
        #expect(try phone.keys() == [])
        #expect(try phone.state.withdrawals.map(\.device) == [device])
    }

    /// The keys go whatever the state is like, and a state that is not understood stays as it is.
    @Test(arguments: StoreKind.allCases, [nil, "{", #"{"version":2}"#])
    func aLogOutDeletesTheKeysWhateverTheStateIs(_ kind: StoreKind, _ text: String?) throws {
        let phone = try Installation(kind)
        try phone.launch(with: Provider())
        phone.file = text.map { Bytes($0.utf8) }
        try phone.logOut()
        #expect(try phone.keys() == [])
        #expect(phone.file == (text == "{" ? EnrolmentState().json : text.map { Bytes($0.utf8) }))
        phone.fileIsReadable = false
        try phone.logOut()
        #expect(phone.file == (text == "{" ? EnrolmentState().json : text.map { Bytes($0.utf8) }))
    }

    /// The reply arrives when its account is gone, or was created again.
    @Test(arguments: StoreKind.allCases, [false, true])
    func aReplyAfterTheLogOutIsToNobody(_ kind: StoreKind, logsInAgain: Bool) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        guard case .plan(let plan) = phone.reconcile(at: .start) else { throw Unexpected() }
        var work = try phone.enrolment.begin(plan, at: .start)
        let request = try #require(work.request)
        let reply = try RegistrationReply(json: provider.answer(request.record.json, at: .start))
        work.state = try #require(try phone.enrolment.logOut(.state(work.state)))
        if logsInAgain {
            guard
                case .plan(let plan) = phone.enrolment.reconcile(
                    .state(work.state), in: phone.circumstances, at: .start)
            else { throw Unexpected() }
            work = try phone.enrolment.begin(plan, at: .start)
        }
        let before = work.state
        let result = try phone.enrolment.handle(reply, to: request, state: &work.state, at: .start)
        #expect(result == EnrolmentResult(key: .anotherKey))
        #expect(work.state == before)
        #expect(try phone.pins == [])
    }
}

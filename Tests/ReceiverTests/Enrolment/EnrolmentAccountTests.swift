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
        #expect(try phone.state.ends.map(\.device) == [device])
        try phone.logOut()
        #expect(try phone.state.ends.map(\.device) == [device])

        // The other account goes on, and tells the provider.
        phone.account = "default"
        #expect(try phone.launch(with: provider) == "end(\(device)), register-again(provider-changed)")
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
        // What has to be said is saved first.
        #expect(try phone.state.ends.map(\.device) == [device] && phone.keys().count == 1)
        phone.store.fail(with: nil)
        try phone.logOut()
        #expect(try phone.keys() == [])
        #expect(try phone.state.ends.map(\.device) == [device])
        let end = try #require(try phone.state.ends.first)
        #expect(try provider.ends(end) && provider.devices.isEmpty)
    }

    /// The end cannot be signed now, and could not be later without the key.
    @Test(arguments: StoreKind.allCases) func aLogOutThatCannotReadTheStoreChangesNothing(_ kind: StoreKind) throws {
        let phone = try Installation(kind)
        try phone.launch(with: Provider())
        let file = phone.file
        phone.store.fail(with: KeyStoreError(.storeLocked, ""))
        #expect(throws: KeyStoreError(.storeLocked, "")) { try phone.logOut() }
        phone.store.fail(with: nil)
        #expect(try phone.file == file && phone.keys().count == 1)
        // A store that is damaged for ever keeps nobody logged in.
        phone.store.fail(with: KeyStoreError(.corruptStore, ""))
        #expect(throws: KeyStoreError(.corruptStore, "")) { try phone.logOut() }
        #expect(try phone.state.account("default") == nil && phone.state.ends == [])
    }

    /// The process is killed when the end is saved, and the keys are not deleted: the device ends all the same.
    @Test(arguments: StoreKind.allCases) func aKillDuringTheLogOutLeavesNoDevice(_ kind: StoreKind) throws {
        var provider = try Provider()
        provider.user = "alice"
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let device = try phone.device()
        phone.file = try #require(try phone.enrolment.logOut(phone.saved)).json
        // For the app the user is still logged in.
        #expect(try phone.launch(with: provider) == "end(\(device)), register")
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try provider.devices.map(\.id) == [phone.device()] && phone.device() != device)
        #expect(try phone.state.ends == [])
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
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
        let reply = try RegistrationReply(json: provider.answer(request.signed.body, at: .start))
        work.state = try #require(try phone.enrolment.logOut(.state(work.state)))
        try phone.enrolment.removeKeys()
        #expect(work.state.ends == [])
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
        #expect(work.state.accounts == before.accounts)
        #expect(try phone.pins == [])
        // Only now the phone knows whom to tell that the device has ended.
        let device = try #require(request.record.deviceID)
        #expect(work.state.ends.map(\.device) == [device] && before.ends == [])
        #expect(try provider.store.device(id: device) != nil)
        #expect(try provider.ends(work.state.ends[0]))
        #expect(try provider.store.device(id: device) == nil)
    }
}

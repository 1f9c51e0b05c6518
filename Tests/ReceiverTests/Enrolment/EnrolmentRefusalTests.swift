import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// A phone with a session, whose provider refuses the registration. [D-46] [D-48]
@Suite struct EnrolmentRefusalTests {
    private let provider: Provider
    private let phone = Installation()

    init() throws {
        provider = try Provider()
        for _ in 0..<2 { try phone.launch(with: provider) }
    }

    /// Another id and another key, in one write; the account's pins stay. An id that is somebody else's stays theirs.
    @Test(
        arguments: [
            (.generationRollback, true), (.generationTooHigh, true), (.suiteDowngrade, true), (.userMismatch, false),
            (.keyTaken, false),
        ] as [(RegistrationReply.Refusal, isOwn: Bool)])
    func whatIsRefusedIsGivenUpAndMadeAgain(_ refusal: RegistrationReply.Refusal, isOwn: Bool) throws {
        let (device, keys, pins) = (try phone.device, try phone.keys, try phone.pins)
        let request = try phone.request()
        let (reply, before) = (RegistrationReply(.refused(refusal)), try phone.state)
        // If the store does not take it, nothing has changed, and the next refusal does it.
        phone.store.fail(with: KeyStoreError(.diskFull, ""), writesOnly: true)
        #expect(throws: KeyStoreError(.diskFull, "")) { try phone.take(reply, to: request) }
        #expect(try phone.state == before)
        phone.store.fail(with: nil)
        let writes = phone.store.writes
        let result = try phone.take(reply, to: request)
        #expect(result.key == .refused(refusal) && result.goesOn && !result.needsPairing)
        #expect(try phone.store.writes == writes + 1 && phone.device != device && phone.pins == pins)
        #expect(try phone.keys.map(\.generation) == [1] && phone.keys[0].keyID != keys[0].keyID)
        #expect(try phone.ends == (isOwn ? [device] : []))

        #expect(try phone.launch(with: provider) == "register(first)")
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try provider.devices.map(\.id).contains(device) == !isOwn && phone.hears(provider))
        #expect(try phone.launch(with: provider) == "nothing" && phone.ends == [])
    }

    /// The app does not log out, and somebody else logs in: neither gets the other's device.
    @Test func aPhoneThatChangesHandsIsAnotherDevice() throws {
        let phone = Installation()
        var provider = try Provider.of("alice")
        try phone.launch(with: provider)
        let alices = try phone.device
        provider.user = "bob"
        for _ in 0..<3 {
            phone.facts.pushToken = [1]
            try phone.launch(with: provider)
        }
        #expect(phone.results.map(\.key).contains(.refused(.userMismatch)) && phone.results.last?.key == .acknowledged)
        #expect(try provider.store.device(id: alices)?.user == "alice")
        #expect(try provider.store.device(id: phone.device)?.user == "bob" && provider.devices.count == 2)
        #expect(try phone.hears(provider))
        #expect(try phone.receive(provider.push(to: alices, at: .start)) == "unknown-recipient-key")
    }

    @Test func aKeyThatAnotherDeviceHasStaysThere() throws {
        let phone = Installation()
        let key = try phone.request().record.publicKey
        let other = DeviceRegistration(publicKey: key, createdAt: .start)
        try provider.store.addDevice(other, id: "other", owner: .user("mallory"), at: .start)
        for _ in 0..<2 { try phone.launch(with: provider) }
        #expect(phone.results.map(\.key) == [.refused(.keyTaken), .acknowledged])
        #expect(try provider.store.device(id: "other")?.publicKey == key && phone.hears(provider))
    }

    /// An operator fixes that; nothing on the phone can.
    @Test(arguments: ["topic-mismatch", "over-quota"]) func anotherReasonChangesNothing(_ reason: String) throws {
        let refusal = try #require(RegistrationReply.Refusal(reason))
        let request = try phone.request()
        let state = try phone.state
        #expect(try phone.take(RegistrationReply(.refused(refusal)), to: request).key == .refused(refusal))
        #expect(try phone.state == state && phone.results.last?.goesOn == false)
    }

    /// The state is back as it was, and the clock stands still.
    @Test func aPhoneGoesOnAfterWhatItIsTold() throws {
        let (device, state) = (try phone.device, try phone.state)
        for _ in 0..<3 {
            let request = try phone.request()
            try phone.take(provider.answer(request.signed.body), to: request)
        }
        try phone.store.edit { $0 = state }
        phone.facts.pushToken = [1]
        for _ in 0..<2 { try phone.launch(with: provider) }
        #expect(phone.results.suffix(2).map(\.key) == [.refused(.staleRecord), .acknowledged])
        #expect(phone.results.suffix(2).map(\.goesOn) == [true, true])
        #expect(try phone.device == device && phone.launch(with: provider) == "nothing")
    }

    /// A provider that does not say which sequence it holds. [D-46]
    @Test func aStaleRecordIsFollowedByAnother() throws {
        let request = try phone.request()
        #expect(try phone.take(RegistrationReply(.refused(.staleRecord)), to: request).goesOn)
    }

    /// A copy of the phone has logged out: its device never comes back, and this is another one.
    @Test func aDeviceThatHasEndedIsFollowedByAnother() throws {
        let (device, pins, state) = (try phone.device, try phone.pins, try phone.state)
        try phone.logOut()
        try phone.launch(with: provider)
        try phone.store.edit { $0 = state }
        phone.facts.pushToken = [1]
        try phone.launch(with: provider)
        #expect(phone.results.last?.key == .refused(.staleRecord) && phone.results.last?.needsPairing == false)
        #expect(try phone.device != device && phone.ends == [] && phone.pins == pins)
        try phone.launch(with: provider)
        #expect(try phone.results.last?.key == .acknowledged && phone.hears(provider))
    }
}

/// Replies that come when the account has gone on. [D-41]
@Suite struct LateReplyTests {
    private let provider: Provider
    private let phone = Installation()

    init() throws {
        provider = try Provider()
        for _ in 0..<2 { try phone.launch(with: provider) }
    }

    /// An acknowledgement of a key that was not sent, the end of a device, and a hello are no reply to a record.
    @Test(arguments: 0..<4) func whatIsAboutSomethingElseChangesNothing(_ number: Int) throws {
        try phone.store.edit { state in
            state.unpin(state.accounts[0].pins[0].key)
            try state.rotate(at: .start)
        }
        let (request, active) = (try phone.request(), try #require(try phone.keys.first))
        let verdicts: [RegistrationReply.Verdict] = [
            .acknowledged(DeviceKey().publicKey), .acknowledged(active.publicKey), .ended(try phone.device),
            .hello("AAAAAAAAAAAAAAAAAAAAAA"),
        ]
        let reply = RegistrationReply(
            verdicts[number], provider: try provider.key.publicKey, certificate: try provider.rotate(at: .start))
        let state = try phone.state
        #expect(try phone.take(reply, to: request) == EnrolmentResult(.anotherKey))
        #expect(try phone.state == state && state.accounts[0].pins == [])
    }

    /// The phone has made another key since: a late refusal deletes nothing, and a late acknowledgement confirms nothing.
    @Test(arguments: [.refused(.generationRollback), .refused(.staleRecord), nil] as [RegistrationReply.Verdict?])
    func aLateReplyDoesNotReachANewerKey(_ verdict: RegistrationReply.Verdict?) throws {
        let late = try phone.request()
        try phone.store.edit { try $0.rotate(at: .start) }
        try phone.launch(with: provider)
        let keys = try phone.keys
        #expect(keys.map(\.state) == [.retiring, .active])
        let verdict = verdict ?? .acknowledged(late.record.publicKey)
        let result = try phone.take(RegistrationReply(verdict), to: late)
        #expect(result.key == (verdict == .acknowledged(late.record.publicKey) ? .acknowledged : .anotherKey))
        #expect(try phone.keys == keys)
        // The provider is asked again, because it may seal to the older one.
        try phone.launch(with: provider)
        #expect(try phone.keys == keys && phone.hears(provider) && phone.launch(with: provider) == "nothing")
    }

    /// The account is gone, or another device of the same name is there, and only now the phone knows whom to tell.
    @Test(arguments: [false, true]) func aReplyAfterTheLogOutEndsTheDevice(logsInAgain: Bool) throws {
        let phone = Installation()
        let request = try phone.request()
        let reply = try RegistrationReply(json: provider.answer(request.signed.body))
        let device = try phone.device
        try phone.logOut()
        #expect(try phone.ends == [])
        if logsInAgain { _ = try phone.request() }
        let accounts = try phone.state.accounts
        for _ in 0..<2 {
            #expect(try phone.take(reply, to: request) == EnrolmentResult(.anotherKey))
            #expect(try phone.state.accounts == accounts && phone.ends == [device])
        }
        let end = try phone.state.ends[0]
        #expect(try provider.ends(end) && provider.store.device(id: device) == nil)
    }
}

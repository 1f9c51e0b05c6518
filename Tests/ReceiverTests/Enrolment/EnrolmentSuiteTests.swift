import PostQuantum
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// A phone changes over to suite 2 when its provider permits it, and never back. [D-47]
@Suite(.postQuantum) struct EnrolmentSuiteTests {
    private var provider: Provider
    private let phone = Installation()

    init() throws {
        provider = try Provider()
        provider.suites = [1, 2]
        try phone.launch(with: provider)
    }

    private func changeOver() throws {
        for _ in 0..<2 { try phone.launch(with: provider) }
        #expect(try phone.keys.map(\.state) == [.retiring, .active] && phone.suites == [.x25519, .xwing])
    }

    @Test func itStaysUntilTheOperatorPermitsIt() throws {
        var provider = try Provider()
        let phone = Installation()
        for day in 0..<3 as Range<UInt64> { try phone.launch(with: provider, at: .start.plus(days: day)) }
        #expect(try phone.suites == [.x25519])
        provider.suites = [1, 2]
        let now = Timestamp.start.plus(days: 3)
        #expect(try phone.launch(with: provider, at: now) == "register(time-passed)")
        #expect(try phone.suites == [.x25519])
        #expect(try phone.launch(with: provider, at: now).hasPrefix("register(post-quantum-permitted"))
        #expect(try phone.keys.map(\.state) == [.retiring, .active] && phone.suites == [.x25519, .xwing])
        #expect(try phone.launch(with: provider, at: now) == "nothing" && phone.hears(provider, at: now))
        #expect(try provider.store.device(id: phone.device)?.publicKey.suite == .xwing)
    }

    /// The operator takes the permission back; a key that is old is followed by one of the same suite.
    @Test func nothingLeadsBack() throws {
        try changeOver()
        var provider = provider
        provider.suites = [1]
        for day in [1, 2, 40, 80, 120] as [UInt64] { try phone.launch(with: provider, at: .start.plus(days: day)) }
        #expect(try !phone.suites.contains(.x25519))
        #expect(try provider.store.device(id: phone.device)?.publicKey.suite == .xwing)
    }

    /// Faults on the way: pushes open all the same, and one key of suite 2 is made.
    @Test(arguments: Mishap.allCases) func aFaultOnTheWayLosesNothing(_ mishap: Mishap) throws {
        try phone.launch(with: provider, mishap)
        #expect(try phone.hears(provider))
        for _ in 0..<3 { try phone.launch(with: provider) }
        #expect(try phone.hears(provider) && phone.suites == [.x25519, .xwing])
        #expect(try provider.store.device(id: phone.device)?.publicKey.suite == .xwing)
    }

    // MARK: Refused keys

    /// Another server of the provider has an older libsodium and another store.
    @Test func aRefusedKeyRetiresAndTheNextIsTriedLater() throws {
        let record = try phone.request().record
        #expect(record.publicKey.suite == .xwing && record.suites == [1, 2] && record.generation == 2)
        try phone.hear(.refused(.unsupportedSuite))
        #expect(try phone.keys.map(\.state) == [.active, .retiring])
        #expect(try phone.keys[1].retiresAt == .start.plus(days: 31) && phone.hears(provider))
        for day in [0, 29] as [UInt64] {
            for _ in 0..<2 { try phone.launch(with: provider, at: .start.plus(days: day)) }
            #expect(try phone.launch(with: provider, at: .start.plus(days: day)) == "nothing")
            #expect(try phone.suites == [.x25519, .xwing])
        }
        try phone.launch(with: provider, at: .start.plus(days: 30))
        #expect(try phone.keys.last?.generation == 3 && phone.keys.last?.state == .active)
        #expect(try phone.suites == [.x25519, .xwing, .xwing])
    }

    /// A server with a new libsodium has stored the key, its reply was lost, and another server refuses the key. With the late
    /// reply the phone goes on with this key, and without it with the older one.
    @Test(arguments: [false, true]) func aRefusedKeyThatAServerHasOpens(isReplyLate: Bool) throws {
        let request = try phone.request()
        let reply = try RegistrationReply(json: provider.answer(request.signed.body))
        try phone.take(RegistrationReply(.refused(.unsupportedSuite)), to: request)
        for day in [0, 30] as [UInt64] { #expect(try phone.hears(provider, at: .start.plus(days: day))) }
        let device = try phone.device
        if isReplyLate { #expect(try phone.take(reply, to: request).key == .acknowledged) }
        try phone.launch(with: provider)
        #expect(try phone.keys.map(\.state) == (isReplyLate ? [.retiring, .active] : [.active, .retiring]))
        #expect(try phone.device == device && phone.hears(provider) && phone.launch(with: provider) == "nothing")
    }

    /// The one way back: the provider can seal to nothing else that the phone has.
    @Test(arguments: [false, true]) func anActiveKeyThatIsRefusedIsFollowedByOneOfSuite1(isFirst: Bool) throws {
        try changeOver()
        if isFirst {
            try phone.hear(.refused(.userMismatch))
            #expect(try phone.suites == [.xwing])
        }
        #expect(try phone.hear(.refused(.unsupportedSuite)).goesOn)
        let (device, keys) = (try phone.device, try phone.keys)
        #expect(keys.suffix(2).map(\.publicKey.suite) == [.xwing, .x25519])
        #expect(keys.suffix(2).map(\.state) == [.active, .pending])
        // Another server of the provider may seal to it.
        for day in [0, 20] as [UInt64] {
            try phone.launch(with: provider, at: .start.plus(days: day))
            #expect(phone.results.last?.key == .acknowledged)
            #expect(try phone.device == device && phone.keys.map(\.keyID) == keys.map(\.keyID) && phone.hears(provider))
        }
        for _ in 0..<2 { try phone.launch(with: provider, at: .start.plus(days: 30)) }
        #expect(try phone.suites.last == .xwing)
    }

    /// The provider's servers have all gone back to an older libsodium.
    @Test func anOldKeyOfSuite2IsTriedEvery30Days() throws {
        try changeOver()
        let day31 = Timestamp.start.plus(days: 31)
        try phone.hear(.refused(.unsupportedSuite), at: day31)
        let keys = try phone.keys.filter { $0.state != .retiring }.map(\.keyID)
        phone.facts.pushToken = [7]
        let said = try phone.launch(with: provider, at: day31)
        #expect(said.contains("token-changed") && !said.contains("key-is-old"))
        #expect(try phone.keys.filter { $0.state != .retiring }.map(\.keyID) == keys)
        #expect(try phone.launch(with: provider, at: .start.plus(days: 61)).contains("key-is-old"))
    }

    // MARK: Other devices

    /// Another device id is no way back, whatever has led to it; nor is a clock or an earlier refusal.
    @Test(
        arguments: [
            .generationRollback, .generationTooHigh, .suiteDowngrade, .userMismatch, .keyTaken, .staleRecord,
        ] as [RegistrationReply.Refusal])
    func noOtherDeviceLeadsBack(_ refusal: RegistrationReply.Refusal) throws {
        try changeOver()
        var provider = provider
        provider.suites = [1]
        phone.facts.pushToken = [7]
        try phone.launch(with: provider)
        for _ in 0..<2 {
            let device = try phone.device
            try phone.hear(.refused(refusal), sequence: refusal == .staleRecord ? DeviceEnd.sequence : nil)
            #expect(try phone.device != device && phone.suites == [.xwing])
        }
        try phone.launch(with: provider)
        #expect(try phone.results.last?.key == .acknowledged && phone.hears(provider))
    }

    /// A refusal delays the change of a phone that has not changed over, under another id too, and is no way back for one that has.
    @Test(arguments: [false, true]) func aRefusalCountsForAnotherDevice(hasChangedOver: Bool) throws {
        if hasChangedOver { try changeOver() }
        try phone.hear(.refused(.unsupportedSuite))
        try phone.hear(.refused(.userMismatch))
        #expect(try phone.suites == (hasChangedOver ? [.xwing] : [.x25519]))
        for _ in 0..<2 { try phone.launch(with: provider, at: .start.plus(days: 30)) }
        #expect(try phone.suites.last == .xwing)
    }

    /// A phone from a backup that is older than its change, or a record that somebody kept.
    @Test func aPhoneThatWasRefusedAsOlderBeginsWithSuite2() throws {
        let (provider, phone) = (try Provider(), Installation())
        try phone.launch(with: provider)
        try phone.hear(.refused(.suiteDowngrade))
        #expect(try phone.suites == [.xwing])
        // A log-out ends it: the next user's provider decides.
        try phone.logOut()
        try phone.launch(with: provider)
        #expect(try phone.suites == [.x25519])
    }

    /// The provider may have stored a pending key, whatever a late reply to an earlier record permits.
    @Test func aPendingKeyOfSuite2IsNoWayBackEither() throws {
        let (provider, phone) = (try Provider(), Installation())
        try phone.launch(with: provider)
        let late = try phone.request()
        try phone.launch(with: self.provider)
        try phone.launch(with: self.provider, .replyLost)
        #expect(try phone.suites == [.x25519, .xwing])
        let reply = RegistrationReply(.acknowledged(late.record.publicKey), suites: [1])
        #expect(try phone.take(reply, to: late).key == .acknowledged)
        try phone.hear(.refused(.userMismatch))
        #expect(try phone.suites == [.xwing])
    }
}

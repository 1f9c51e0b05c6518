import PostQuantum
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// A phone changes over to suite 2 when its provider permits it, and never back. [D-25]
@Suite(.postQuantum) struct EnrolmentSuiteTests {
    private func suites(_ phone: Installation) throws -> [CipherSuite] { try phone.keys().map(\.publicKey.suite) }

    @Test(arguments: StoreKind.allCases) func itStaysUntilTheOperatorPermitsIt(_ kind: StoreKind) throws {
        var provider = try Provider()
        let phone = try Installation(kind)
        for day in 0..<3 as Range<UInt64> { try phone.launch(with: provider, at: .start.plus(days: day)) }
        #expect(try suites(phone) == [.x25519])

        provider.suites = [1, 2]
        #expect(try phone.launch(with: provider, at: .start.plus(days: 3)) == "register-again(time-passed)")
        #expect(try suites(phone) == [.x25519])
        #expect(try phone.launch(with: provider, at: .start.plus(days: 3)) == "register-again(post-quantum-permitted)")
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try suites(phone) == [.x25519, .xwing])
        #expect(try phone.keys().map(\.state) == [.retiring, .active])
        #expect(try phone.launch(with: provider, at: .start.plus(days: 3)) == "nothing")
        let now = Timestamp.start.plus(days: 3)
        #expect(try provider.store.device(id: phone.device())?.publicKey.suite == .xwing)
        #expect(try phone.receive(provider.push(to: phone.device(), at: now), at: now) == "opened")
    }

    /// The operator takes the permission back; a key that is old is followed by one of the same suite.
    @Test(arguments: StoreKind.allCases) func nothingLeadsBack(_ kind: StoreKind) throws {
        var provider = try Provider()
        provider.suites = [1, 2]
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        #expect(try suites(phone) == [.x25519, .xwing])
        provider.suites = [1]
        for day in [1, 2, 40, 80, 120] as [UInt64] { try phone.launch(with: provider, at: .start.plus(days: day)) }
        #expect(try !suites(phone).contains(.x25519))
        #expect(try provider.store.device(id: phone.device())?.publicKey.suite == .xwing)
    }

    /// Whatever goes wrong on the way, pushes open, and one key of suite 2 is made.
    @Test(arguments: StoreKind.allCases, Mishap.allCases)
    func aFaultOnTheWayLosesNothing(_ kind: StoreKind, _ mishap: Mishap) throws {
        var provider = try Provider()
        provider.suites = [1, 2]
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider, mishap)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        for _ in 0..<3 { try phone.launch(with: provider) }
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        #expect(try suites(phone).filter { $0 == .xwing }.count == 1)
        #expect(try provider.store.device(id: phone.device())?.publicKey.suite == .xwing)
    }

    /// Another server of the provider has an older libsodium.
    @Test(arguments: StoreKind.allCases) func aRefusedKeyIsDroppedAndTriedAgain(_ kind: StoreKind) throws {
        var provider = try Provider()
        provider.suites = [1, 2]
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let keys = try phone.keys()

        guard case .plan(let plan) = phone.reconcile(at: .start) else { throw Unexpected() }
        var work = try phone.enrolment.begin(plan, at: .start)
        let request = try #require(work.request)
        #expect(request.record.publicKey.suite == .xwing && request.record.suites == [1, 2])
        let result = try phone.enrolment.handle(
            RegistrationReply(.refused(.unsupportedSuite)), to: request, state: &work.state, at: .start)
        #expect(result.key == .refused(.unsupportedSuite))
        phone.file = work.state.json
        #expect(try phone.keys() == keys)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")

        // The pin of the first reply was in the refused record.
        #expect(try phone.launch(with: provider, at: .start) == "register-again(sender-changed)")
        #expect(try phone.launch(with: provider, at: .start) == "nothing")
        try phone.launch(with: provider, at: .start.plus(days: 29))
        #expect(try phone.launch(with: provider, at: .start.plus(days: 29)) == "nothing")
        #expect(try suites(phone) == [.x25519])
        try phone.launch(with: provider, at: .start.plus(days: 30))
        #expect(try suites(phone) == [.x25519, .xwing])
    }
}

import PostQuantum
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// A phone changes over to suite 2 when its provider permits it, and never back. [D-47]
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

    /// Registers, and gets this refusal.
    @discardableResult
    private func refuse(
        _ phone: Installation, _ refusal: RegistrationReply.Refusal, at now: Timestamp = .start
    ) throws -> EnrolmentRequest {
        guard case .plan(let plan) = phone.reconcile(at: now) else { throw Unexpected() }
        var work = try phone.enrolment.begin(plan, at: now)
        let request = try #require(work.request)
        let result = try phone.enrolment.handle(
            RegistrationReply(.refused(refusal)), to: request, state: &work.state, at: now)
        #expect(result.key == .refused(refusal))
        phone.file = work.state.json
        return request
    }

    private func changedOver(_ kind: StoreKind) throws -> (Provider, Installation) {
        var provider = try Provider()
        provider.suites = [1, 2]
        let phone = try Installation(kind)
        for _ in 0..<3 { try phone.launch(with: provider) }
        #expect(try phone.keys().last.map { [$0.state == .active, $0.publicKey.suite == .xwing] } == [true, true])
        return (provider, phone)
    }

    /// Another server of the provider has an older libsodium and another store.
    @Test(arguments: StoreKind.allCases) func aRefusedKeyRetiresAndTheNextIsTriedLater(_ kind: StoreKind) throws {
        var provider = try Provider()
        provider.suites = [1, 2]
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let record = try refuse(phone, .unsupportedSuite).record
        #expect(record.publicKey.suite == .xwing && record.suites == [1, 2] && record.generation == 2)
        #expect(try phone.keys().map(\.state) == [.active, .retiring])
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")

        // The pin of the first reply was in the refused record.
        #expect(try phone.launch(with: provider, at: .start) == "register-again(provider-changed)")
        #expect(try phone.launch(with: provider, at: .start) == "nothing")
        try phone.launch(with: provider, at: .start.plus(days: 29))
        #expect(try phone.launch(with: provider, at: .start.plus(days: 29)) == "nothing")
        #expect(try suites(phone) == [.x25519, .xwing])
        try phone.launch(with: provider, at: .start.plus(days: 30))
        #expect(try phone.keys().last.map { [$0.generation, $0.state == .active ? 1 : 0] } == [3, 1])
        #expect(try suites(phone) == [.x25519, .xwing, .xwing])
    }

    /// A server with a new libsodium has stored the key, its reply was lost, and another server refused the key.
    @Test(arguments: StoreKind.allCases) func aRefusedKeyThatAServerHasOpens(_ kind: StoreKind) throws {
        var provider = try Provider()
        provider.suites = [1, 2]
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider, .replyLost)
        let request = try refuse(phone, .unsupportedSuite)
        for day in [0, 30] as [UInt64] {
            let now = Timestamp.start.plus(days: day)
            #expect(try phone.receive(provider.push(to: phone.device(), at: now), at: now) == "opened")
        }
        // The reply comes late.
        var state = try phone.state
        let reply = try RegistrationReply(json: provider.answer(request.signed.body, at: .start))
        #expect(try phone.enrolment.handle(reply, to: request, state: &state, at: .start).key == .acknowledged)
        phone.file = state.json
        #expect(try phone.keys().map(\.state) == [.retiring, .active])
        #expect(try phone.launch(with: provider) == "nothing")
    }

    /// The same without the late reply: the phone says that its key is the older one, as nobody else can.
    @Test(arguments: StoreKind.allCases) func aPhoneThatMissedItsChangeGoesOnWithTheOlderKey(_ kind: StoreKind) throws {
        var provider = try Provider()
        provider.suites = [1, 2]
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider, .replyLost)
        try refuse(phone, .unsupportedSuite)
        let device = try phone.device()
        try phone.launch(with: provider)
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try phone.device() == device && phone.keys().map(\.state) == [.active, .retiring])
        #expect(try phone.receive(provider.push(to: device, at: .start)) == "opened")
        // The refusal is not forgotten.
        #expect(try phone.launch(with: provider) == "nothing")
        for _ in 0..<2 { try phone.launch(with: provider, at: .start.plus(days: 30)) }
        #expect(try suites(phone) == [.x25519, .xwing, .xwing])
    }

    /// Another device id, or a restored phone, is no way back. [D-47]
    @Test(
        arguments: StoreKind.allCases,
        [.generationRollback, .generationTooHigh, .suiteDowngrade, .userMismatch, .keyTaken, nil]
            as [RegistrationReply.Refusal?])
    func noOtherDeviceIdLeadsBack(_ kind: StoreKind, _ refusal: RegistrationReply.Refusal?) throws {
        let (provider, phone) = try changedOver(kind)
        let device = try phone.device()
        if let refusal {
            phone.circumstances.pushToken = [7]
            try refuse(phone, refusal)
        } else {
            _ = try phone.store.purgeDeviceKeys(named: "default")
        }
        try phone.launch(with: provider)
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try phone.device() != device)
        #expect(try suites(phone) == [.xwing])
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
    }

    /// A phone from a backup that is older than its change, or a record that somebody kept.
    @Test(arguments: StoreKind.allCases) func aPhoneThatWasRefusedAsOlderBeginsWithSuite2(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try refuse(phone, .suiteDowngrade)
        try phone.launch(with: provider)
        #expect(try suites(phone) == [.xwing])
        // A log-out ends it: the next user's provider decides.
        try phone.logOut()
        try phone.launch(with: provider)
        #expect(try suites(phone) == [.x25519])
    }

    /// The provider may have stored a pending key, whatever a late reply to an earlier record permits.
    @Test(arguments: StoreKind.allCases) func aPendingKeyOfSuite2IsNoWayBackEither(_ kind: StoreKind) throws {
        var provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        phone.circumstances.pushToken = [7]
        guard case .plan(let plan) = phone.reconcile(at: .start) else { throw Unexpected() }
        let late = try #require(try phone.enrolment.begin(plan, at: .start).request)
        provider.suites = [1, 2]
        try phone.launch(with: provider)
        try phone.launch(with: provider, .replyLost)
        #expect(try suites(phone) == [.x25519, .xwing])
        var state = try phone.state
        let reply = RegistrationReply(.acknowledged(late.record.publicKey), suites: [1])
        #expect(try phone.enrolment.handle(reply, to: late, state: &state, at: .start).key == .acknowledged)
        phone.file = state.json
        try refuse(phone, .userMismatch)
        try phone.launch(with: provider)
        #expect(try suites(phone) == [.xwing])
    }

    /// The one way back: the provider can seal to nothing else that the phone has. [D-47]
    @Test(arguments: StoreKind.allCases, [false, true])
    func anActiveKeyThatIsRefusedIsFollowedByOneOfSuite1(_ kind: StoreKind, isFirst: Bool) throws {
        let (provider, phone) = try changedOver(kind)
        phone.circumstances.pushToken = [7]
        if isFirst {
            try refuse(phone, .userMismatch)
            #expect(try suites(phone) == [])
        }
        try refuse(phone, .unsupportedSuite)
        let (device, keys) = (try phone.device(), try phone.keys())
        #expect(keys.suffix(2).map(\.publicKey.suite) == [.xwing, .x25519])
        #expect(keys.suffix(2).map(\.state) == [.active, .pending])
        // Another server of the provider may seal to it.
        for day in [0, 20] as [UInt64] {
            try phone.launch(with: provider, at: .start.plus(days: day))
            #expect(phone.results.last?.key == .acknowledged)
            #expect(try phone.device() == device && phone.keys().map(\.keyID) == keys.map(\.keyID))
            #expect(try phone.receive(provider.push(to: device, at: .start)) == "opened")
        }
        for _ in 0..<2 { try phone.launch(with: provider, at: .start.plus(days: 30)) }
        #expect(try suites(phone).last == .xwing)
    }

    /// What is no longer acknowledged was so once.
    @Test(arguments: StoreKind.allCases) func aDeviceThatHasEndedComesBackWithSuite2(_ kind: StoreKind) throws {
        var (provider, phone) = try changedOver(kind)
        provider.suites = [1]
        phone.circumstances.pushToken = [7]
        try phone.launch(with: provider)
        phone.circumstances.pushToken = [8]
        let request = try phone.begin()
        var reply = RegistrationReply(.refused(.staleRecord))
        reply.sequence = DeviceEnd.sequence
        #expect(try phone.take(reply, to: request).key == .refused(.staleRecord))
        #expect(try phone.keys() == [] && phone.state.ends == [])
        try phone.launch(with: provider)
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try suites(phone) == [.xwing])
    }

    /// The provider's servers have all gone back to an older libsodium.
    @Test(arguments: StoreKind.allCases) func anOldKeyOfSuite2IsTriedEvery30Days(_ kind: StoreKind) throws {
        let (provider, phone) = try changedOver(kind)
        let day31 = Timestamp.start.plus(days: 31)
        try refuse(phone, .unsupportedSuite, at: day31)
        let keys = try phone.keys().filter { $0.state != .retiring }
        phone.circumstances.pushToken = [7]
        let plan = try phone.launch(with: provider, at: day31)
        #expect(plan.contains("token-changed") && !plan.contains("key-is-old"))
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try phone.keys().filter { $0.state != .retiring } == keys)
        #expect(try phone.launch(with: provider, at: .start.plus(days: 61)).contains("key-is-old"))
    }
}

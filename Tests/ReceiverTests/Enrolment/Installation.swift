import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import Simulated

/// The fate of a record.
enum Mishap: CaseIterable {
    case nothing
    /// It never reaches the provider.
    case recordLost
    /// The provider has it, and its reply is lost, or the process is killed with it in hand.
    case replyLost
}

/// An app on a phone, with the device's state in its store, and what it does at a launch.
final class Installation {
    /// Survives the app's removal.
    var store: FailingStore
    /// Does not.
    var mark = "first"
    var account = "default"
    var terms = EnrolmentTerms(topic: .app, trust: .firstReply)
    var facts = EnrolmentFacts(appVersion: AppVersion("1.0"), pushToken: Bytes(repeating: 0xA7, count: 32))
    private(set) var results: [EnrolmentResult] = []

    init(_ store: any DeviceStore = MemoryDeviceStore()) { self.store = FailingStore(store) }

    // MARK: What it has

    var state: DeviceState { get throws { try store.state() } }

    /// The account's knowledge of its registration.
    var registration: DeviceState.Registration { get throws { try #require(state.account(account)?.registration) } }

    /// The id under which the provider keeps the account.
    var device: String { get throws { try registration.device } }

    var keys: [DeviceState.Key] { get throws { try store.keys(of: account) } }

    var suites: [CipherSuite] { get throws { try keys.map(\.publicKey.suite) } }

    /// The devices of which a provider has to hear that they have ended.
    var ends: [String] { get throws { try state.ends.map(\.record.device) } }

    var trust: ProviderTrust { get throws { try state.trust(for: .app, account: account) } }

    var pins: [ProviderPublicKey] { get throws { try trust.pinned } }

    /// The highest certificate that the account knows of its first pin.
    var certificate: Certificate? { get throws { try trust.pins.first?.learned.certificate } }

    /// Whether the account's posts go to the address of a code.
    var isPaired: Bool { get throws { try state.account(account)?.registration?.address != nil } }

    // MARK: Launches

    /// The phone's part of a launch, which is stored before anything is sent.
    func next(isForced: Bool = false, at now: Timestamp = .start) throws -> EnrolmentStep {
        try store.edit { state in
            state.begin(installation: mark, .app)
            return try state.next(for: account, facts, terms, isForced: isForced, at: now)
        }
    }

    /// Makes a record, whether something has changed or not.
    func request(at now: Timestamp = .start) throws -> EnrolmentRequest {
        try #require(try next(isForced: true, at: now).request)
    }

    /// One launch; gives what there was to say.
    @discardableResult
    func launch(
        with provider: Provider, _ mishap: Mishap = .nothing, at now: Timestamp = .start
    ) throws -> String {
        let step = try next(at: now)
        if let request = step.request, mishap != .recordLost {
            let answer = try provider.answer(request.signed.body, hasSession: !isPaired, at: now)
            if mishap == .replyLost { return step.description }
            try take(answer, to: request, at: now)
        }
        for end in try state.ends where try provider.ends(end, at: now) {
            try store.edit { $0.ends.removeAll { $0 == end } }
        }
        return step.description
    }

    /// The reply in an answer, if the phone believes it: over its session, or signed.
    private func believed(_ answer: Bytes, to request: EnrolmentRequest, at now: Timestamp) throws -> RegistrationReply?
    {
        guard try isPaired else { return try RegistrationReply(json: answer) }
        return SignedReply.open(answer, to: request.signed.asked, trusting: try trust, for: .app, at: now)
    }

    /// Takes the answer to a request; nil if the phone does not believe it.
    @discardableResult
    func take(_ answer: Bytes, to request: EnrolmentRequest, at now: Timestamp = .start) throws -> EnrolmentResult? {
        try believed(answer, to: request, at: now).map { try take($0, to: request, at: now) }
    }

    @discardableResult
    func take(
        _ reply: RegistrationReply, to request: EnrolmentRequest, at now: Timestamp = .start
    ) throws -> EnrolmentResult {
        let result = try store.edit { try $0.take(reply, to: request, of: account, terms, at: now) }
        results.append(result)
        return result
    }

    /// Makes a record, and gets this verdict.
    @discardableResult
    func hear(
        _ verdict: RegistrationReply.Verdict, sequence: UInt64? = nil, at now: Timestamp = .start
    ) throws -> EnrolmentResult {
        var reply = RegistrationReply(verdict)
        reply.sequence = sequence
        return try take(reply, to: request(at: now), at: now)
    }

    /// Pairs the account by a code of the provider.
    @discardableResult
    func pair(with provider: Provider, at now: Timestamp = .start) throws -> EnrolmentResult {
        let key = try provider.key.publicKey
        let code = try PairingCode(url: "https://home.example.net/push", provider: key)
        try provider.store.addPairing(code, topic: .app, provider: key, user: provider.user, at: now)
        var request = try request(at: now)
        request.pairingAddress = code.url.text
        let pairing = PhonePairing(code, request.record, topic: .app)
        let answer = try #require(try provider.store.accept(pairing.body, at: now))
        let result = try take(pairing.reply(answer.body.span, at: now), to: request, at: now)
        if result.key == .acknowledged { try store.edit { $0.setAddress(code.url.text, of: account) } }
        return result
    }

    func logOut() throws { try store.edit { $0.logOut(account, .app) } }

    /// `opened`, or why not.
    func receive(_ push: Bytes, at now: Timestamp = .start) throws -> String {
        let folder = try TemporaryFolder()
        return NotificationReceiver(store: store, database: ExtensionDatabase(in: folder.path), topic: .app)
            .receive(push, requestID: nil, at: now).code
    }

    /// Whether a push of the provider to this phone opens.
    func hears(_ provider: Provider, at now: Timestamp = .start) throws -> Bool {
        try receive(provider.push(to: device, at: now), at: now) == "opened"
    }
}

extension Provider {
    /// A provider that knows its user.
    static func of(_ user: String) throws -> Provider {
        var provider = try Provider()
        provider.user = user
        return provider
    }

    /// Answers a post as it came over the network.
    func answer(_ post: Bytes, hasSession: Bool = true, at now: Timestamp = .start) throws -> Bytes {
        let session: DeviceOwner? = hasSession ? user.map { .user($0) } ?? .unchanged : nil
        let post = try PhonePost(json: post, over: hasSession ? .session : .open)
        let answer = try store.accept(post, session: session, ReplyTerms(suites: suites, topic: .app), at: now)
        return try #require(answer).body
    }

    /// Answers the end of a device, which needs no session; whether that was the last word on it.
    func ends(_ end: DeviceState.End, at now: Timestamp = .start) throws -> Bool {
        let body = try answer(end.record.body, hasSession: false, at: now)
        let trust = ProviderTrust(pinned: [try key.publicKey])
        switch SignedReply.open(body, to: end.record.asked, trusting: trust, for: .app, at: now)?.verdict {
        case .ended(end.record.device), .refused(.unknownDevice), .refused(.badRecordSignature): return true
        default: return false
        }
    }

    var devices: [DeviceRecord] {
        get throws {
            var devices: [DeviceRecord] = []
            try store.forEachDevice { devices.append(try $0.get()) }
            return devices
        }
    }
}

import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// The two kinds of key stores that a device has.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, keychain

    var testDescription: String { rawValue }

    /// The storage of one phone's keys.
    func make() throws -> any DeviceKeyStore {
        switch self {
        case .sqlite: try SQLiteKeyStore.inMemory()
        case .keychain:
            KeychainKeyStore(
                items: ModelKeychain().process("group.app"), accessGroup: "group.app", service: "pushcrypt")
        }
    }
}

/// A fault during a launch.
enum Mishap: CaseIterable {
    case nothing
    /// The process is killed after the device's part, before the state is saved.
    case killedBeforeSaving
    /// The record never reaches the provider.
    case recordLost
    /// The provider has the record, its reply is lost.
    case replyLost
    /// The process is killed with the reply in hand, before the state is saved.
    case killedWithReply
    /// The store does not take the acknowledgement.
    case storeFailsAtReply
}

/// An app on a phone: its key store, its state file, and what it does at a launch.
final class Installation {
    /// Survives the app's removal.
    var store: FailingStore
    /// The state file in the app's container.
    var file: Bytes?
    var fileIsReadable = true
    var account = "default"
    var firstTrust = FirstTrust.firstReply
    var policy = EnrolmentPolicy()
    var circumstances = EnrolmentCircumstances(
        appVersion: AppVersion("1.0"), pushToken: Bytes(repeating: 0xA7, count: 32))
    private(set) var results: [EnrolmentResult] = []

    init(_ kind: StoreKind) throws { store = FailingStore(try kind.make()) }

    var enrolment: Enrolment<FailingStore> {
        Enrolment(
            store: store, account: account, topic: .app, firstTrust: firstTrust, policy: policy)
    }

    var saved: SavedEnrolment {
        guard let file else { return .none }
        return fileIsReadable ? .text(file) : .unreadable
    }

    var state: EnrolmentState { get throws { try EnrolmentState(json: #require(file)) } }

    /// The id under which the provider keeps the account.
    func device(_ account: String = "default") throws -> String {
        try #require(state.account(account)).device
    }

    func reconcile(at now: Timestamp) -> Reconciliation { enrolment.reconcile(saved, in: circumstances, at: now) }

    /// One launch, as the app writes it; gives what was planned.
    @discardableResult
    func launch(with provider: Provider, _ mishap: Mishap = .nothing, at now: Timestamp = .start) throws -> String {
        guard case .plan(let plan) = reconcile(at: now) else { return "\(reconcile(at: now))" }
        var work = try enrolment.begin(plan, at: now)
        if mishap == .killedBeforeSaving { return plan.description }
        file = work.state.json
        if let request = work.request, mishap != .recordLost {
            let answer = try provider.answer(request.signed.body, hasSession: !isPaired, at: now)
            if mishap == .replyLost { return plan.description }
            let reply = try #require(try believed(answer, to: request, at: now))
            if mishap == .storeFailsAtReply { store.fail(with: KeyStoreError(.diskFull, ""), onlyWrites: true) }
            defer { store.fail(with: nil) }
            do {
                results.append(try enrolment.handle(reply, to: request, state: &work.state, at: now))
            } catch {
                #expect(mishap == .storeFailsAtReply, "\(error)")
            }
            if mishap == .killedWithReply { return plan.description }
            file = work.state.json
        }
        for end in work.state.ends where try provider.ends(end, at: now) { work.state.removeEnd(of: end.device) }
        file = work.state.json
        return plan.description
    }

    /// One launch of a paired phone, or a phone in a session, that need not be answered.
    func exchange(with provider: Provider, at now: Timestamp = .start) throws -> EnrolmentResult.Key? {
        let count = results.count
        try launch(with: provider, at: now)
        return results.count > count ? results.last?.key : nil
    }

    func logOut() throws {
        if let state = try enrolment.logOut(saved) { file = state.json }
        try enrolment.removeKeys()
    }

    // MARK: Posts

    /// Whether the account's posts go to the address of a code.
    var isPaired: Bool { get throws { try file != nil && state.address(of: account) != nil } }

    /// Makes the device's part of a launch that registers, whether something has changed or not.
    func begin(at now: Timestamp = .start) throws -> EnrolmentRequest {
        guard case .plan(var plan) = reconcile(at: now) else { throw Unexpected() }
        plan.registerInAnyCase()
        let work = try enrolment.begin(plan, at: now)
        file = work.state.json
        return try #require(work.request)
    }

    /// The reply in an answer, if the phone believes it: over its session, or signed.
    func believed(_ answer: Bytes, to request: EnrolmentRequest, at now: Timestamp = .start) throws
        -> RegistrationReply?
    {
        guard try isPaired else { return try RegistrationReply(json: answer) }
        return SignedReply.open(answer, to: request.signed.bytes, trusting: try trust, for: .app, at: now)
    }

    /// Takes the answer to a request; nil if the phone does not believe it.
    @discardableResult
    func take(
        _ answer: Bytes, to request: EnrolmentRequest, at now: Timestamp = .start
    ) throws -> EnrolmentResult? {
        guard let reply = try believed(answer, to: request, at: now) else { return nil }
        return try take(reply, to: request, at: now)
    }

    @discardableResult
    func take(
        _ reply: RegistrationReply, to request: EnrolmentRequest, at now: Timestamp = .start
    ) throws -> EnrolmentResult {
        var state = try state
        let result = try enrolment.handle(reply, to: request, state: &state, at: now)
        file = state.json
        return result
    }

    /// Pairs the account by a code of the provider.
    @discardableResult
    func pair(with provider: Provider, at now: Timestamp = .start) throws -> EnrolmentResult {
        let key = try provider.key.publicKey
        let code = try PairingCode(url: "https://home.example.net/push", provider: key)
        try provider.store.addPairing(code, topic: .app, provider: key, user: provider.user, at: now)
        var request = try begin(at: now)
        request.pairingAddress = code.url.text
        let pairing = PhonePairing(code, request.record, topic: .app)
        let answer = try #require(try provider.store.accept(pairing.body, at: now))
        let result = try take(pairing.reply(answer.body.span, at: now), to: request, at: now)
        if result.key == .acknowledged {
            var state = try state
            state.setAddress(code.url.text, of: account)
            file = state.json
        }
        return result
    }

    // MARK: Pushes

    /// The pins of the account.
    var pins: [ProviderPublicKey] { get throws { try trust.pinned } }

    var trust: ProviderTrust { get throws { try store.trust(for: .app, account: account) } }

    /// The highest certificate that the account knows of its first pin.
    var certificate: Certificate? { get throws { try trust.pins.first?.learned.certificate } }

    func keys(_ account: String = "default") throws -> [DeviceKeyRecord] {
        try store.deviceKeys().filter { $0.name == account }
    }

    /// `opened`, or why not.
    func receive(_ push: Bytes, at now: Timestamp = .start) throws -> String {
        let folder = try TemporaryFolder()
        let receiver = NotificationReceiver(
            keys: store, effects: store, database: ExtensionDatabase(in: folder.path), topic: .app)
        return receiver.receive(push, requestID: nil, at: now).code
    }
}

extension Provider {
    /// Answers a post as it came over the network.
    func answer(_ post: Bytes, hasSession: Bool = true, at now: Timestamp = .start) throws -> Bytes {
        let session: DeviceOwner? = hasSession ? user.map { .user($0) } ?? .unchanged : nil
        let post = try PhonePost(json: post, over: hasSession ? .session : .open)
        let answer = try store.accept(post, session: session, ReplyTerms(suites: suites, topic: .app), at: now)
        return try #require(answer).body
    }

    /// Answers the end of a device, which needs no session; whether that was the last word on it.
    func ends(_ end: EnrolmentState.End, at now: Timestamp = .start) throws -> Bool {
        let body = try answer(end.record.body, hasSession: false, at: now)
        let trust = ProviderTrust(pinned: [try key.publicKey])
        switch SignedReply.open(body, to: end.record.bytes, trusting: trust, for: .app, at: now)?.verdict {
        case .ended(end.device), .refused(.unknownDevice), .refused(.badRecordSignature): return true
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

import Foundation
import Pushcrypt
import TestPhone

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

/// A phone with its state and the registrar, a network, a provider, and perhaps its app's relay and a code to pair
/// with: a value, so that a test goes on from it in every way. Its time stands still.
struct RegistrationWorld {
    /// Something that happens. "First" and "last" are the oldest and the newest message that is under way.
    enum Happening: String, CaseIterable {
        case updateA, updateB, logOutA, newToken
        case answerFirst, answerLast, lose, loseReply
        /// The deadline passes, and the reply comes after it.
        case replyTooLate, lateReply
        case cutReply, foreignReply
        /// The reply comes, and what it changes cannot be stored.
        case unstoredReply
        /// The process ends; what is under way arrives, or does not.
        case relaunchAfterArrival, relaunchAfterLoss
        /// The process ends when the state is stored, before a message leaves.
        case killedInUpdateA, killedInLogOutA, killedInReply

        // With a relay.
        case pairA
        /// The provider names the push key that will follow, then uses it.
        case newPushKey
        /// The relay removes its key for grants, and the provider hears that they have ended.
        case newRelayKey
    }

    static let provider = ProviderKey()
    private static let stranger = ProviderKey()
    private static let pushKeys = [PushKey().publicKey, PushKey().publicKey]

    private(set) var state = DeviceState()
    private(set) var registrar = Registrar()
    /// The messages under way.
    private(set) var network: [Registrar.Action] = []
    private(set) var lateReply: (message: Int, reply: WebAnswer)?
    private(set) var relay: ModelRelay?
    private(set) var pairing: ModelPairing?
    private(set) var server = ModelServer(Self.provider)
    /// The steps done of a change of the push key, of two.
    private(set) var pushKey = 0
    private var now = Timestamp(milliseconds: 1_767_225_600_000)
    /// The devices that were logged out before the phone had ever heard of their provider: it has nobody to tell.
    private(set) var unheard: Set<String> = []
    private(set) var token: UInt8 = 1
    /// The users whose last event is an update.
    private(set) var users: Set<String> = []
    /// The token of each user's last update.
    private(set) var reported: [String: UInt8] = [:]
    /// The users whose updates have not ended.
    private(set) var waiting: Set<String> = []
    private(set) var outcomes: [String: PushAccounts.Outcome] = [:]
    /// A fault at an event.
    private(set) var misstep: String?

    private let terms: Registrar.Terms

    init(relay: ModelRelay? = nil, isBuiltIn: Bool = false) throws {
        self.relay = relay
        let trust = isBuiltIn ? FirstTrust.provider(Self.provider.publicKey) : .firstReply
        terms = Registrar.Terms(
            enrolment: EnrolmentTerms(topic: TestPhone.topic, trust: trust),
            relay: relay.map { _ in PushRelay(ModelRelay.origin) })
        guard relay != nil else { return }
        pairing = try ModelPairing(Self.provider.publicKey, of: "A")
        namePushKeys()
    }

    private mutating func namePushKeys() {
        for user in ["A", "B"] {
            server.pushKeys[user] = Self.pushKeys[pushKey / 2]
            server.nextPushKeys[user] = pushKey == 1 ? Self.pushKeys[1] : nil
        }
    }

    private var facts: EnrolmentFacts { EnrolmentFacts(pushToken: [token], environment: .production) }

    // MARK: Events

    /// Lets something happen. Returns false if it cannot now.
    mutating func step(_ happening: Happening) throws -> Bool {
        switch happening {
        case .updateA: update("A")
        case .updateB: update("B")
        case .killedInUpdateA: update("A", leaves: false)
        case .logOutA: logOut()
        case .killedInLogOutA:
            guard users.contains("A") else { return false }
            logOut(leaves: false)
        case .newToken:
            guard token < 3 else { return false }
            token += 1
        case .newPushKey:
            guard relay != nil, pushKey < 2 else { return false }
            pushKey += 1
            namePushKeys()
        case .newRelayKey:
            guard let relay, relay.issued.contains(where: \.isKnown) else { return false }
            server.endedGrants.formUnion(relay.issued.map(\.text))
            self.relay?.removeKey()
        case .pairA:
            guard let pairing, let code = PairingCode(pairing.code) else { return false }
            noteUpdate("A")
            handle(.pair(account: "A", code, facts))
        case .relaunchAfterArrival:
            for message in network { _ = arrive(message) }
            relaunch()
        case .relaunchAfterLoss: relaunch()
        case .lateReply:
            guard let (message, reply) = lateReply else { return false }
            lateReply = nil
            let before = state
            handle(.answered(message: message, reply))
            if state != before { misstep = "a late reply changes something" }
        case .answerLast:
            guard network.count > 1 else { return false }
            answer(network.removeLast())
        case .answerFirst, .lose, .loseReply, .replyTooLate, .cutReply, .foreignReply, .unstoredReply, .killedInReply:
            guard let first = network.first else { return false }
            network.removeFirst()
            end(first, happening)
        }
        return true
    }

    private mutating func end(_ first: Registrar.Action, _ happening: Happening) {
        let message = first.message
        guard happening != .lose else { return handle(.lost(message: message, problem: "")) }
        if happening == .foreignReply { return handle(.answered(message: message, foreignReply(to: first))) }
        if happening == .answerFirst || happening == .killedInReply {
            return answer(first, leaves: happening == .answerFirst)
        }
        let reply = arrive(first)
        switch happening {
        case .cutReply:
            let body = reply.body.dropLast(max(1, reply.body.count / 2))
            handle(.answered(message: message, WebAnswer(status: reply.status, body: ContiguousArray(body))))
        case .unstoredReply:
            for account in registrar.abandon(message) { finish(account, PushAccounts.Outcome(.loggedOut)) }
        default:
            if happening == .replyTooLate { lateReply = (message, reply) }
            handle(.lost(message: message, problem: ""))
        }
    }

    private mutating func noteUpdate(_ user: String) {
        users.insert(user)
        waiting.insert(user)
        reported[user] = token
    }

    private mutating func update(_ user: String, leaves: Bool = true) {
        noteUpdate(user)
        handle(.update(account: user, facts), leaves: leaves)
    }

    private mutating func logOut(leaves: Bool = true) {
        users.remove("A")
        if let account = state.account("A"), account.pins.isEmpty, let device = account.registration?.device {
            unheard.insert(device)
        }
        handle(.logOut(account: "A"), leaves: leaves)
    }

    private mutating func handle(_ event: Registrar.Event, leaves: Bool = true) {
        // Another process was faster once: nothing of the first attempt is left.
        var (former, lost) = (state, registrar)
        former.begin(installation: "", terms.topic)
        _ = lost.handle(event, &former, terms, at: now)
        state.begin(installation: "", terms.topic)
        let actions = registrar.handle(event, &state, terms, at: now)
        guard leaves else { return relaunch() }
        for action in actions {
            if case .finish(let account, let outcome) = action {
                finish(account, outcome)
            } else {
                network.append(action)
            }
        }
    }

    private mutating func finish(_ account: String, _ outcome: PushAccounts.Outcome) {
        if waiting.remove(account) == nil, outcome.status != .loggedOut { misstep = "\(account) hears twice" }
        outcomes[account] = outcome
    }

    private mutating func relaunch() {
        (registrar, network, lateReply, waiting, outcomes) = (Registrar(), [], nil, [], [:])
    }

    private mutating func answer(_ message: Registrar.Action, leaves: Bool = true) {
        // This reply names the provider, in time.
        if case .registration(_, let request, _)? = registrar.underway[message.message],
            let device = request.record.deviceID
        {
            unheard.remove(device)
        }
        handle(.answered(message: message.message, arrive(message)), leaves: leaves)
    }

    // MARK: The provider, the relay and the code's server

    private mutating func arrive(_ message: Registrar.Action) -> WebAnswer {
        let none = WebAnswer(status: 404, body: [])
        switch message {
        case .send(_, let request):
            var user: String?
            if case .register(let account) = request.kind { user = account }
            return WebAnswer(status: 200, body: server.answer(ContiguousArray(request.body), session: user) ?? [])
        case .post(_, let request) where request.url == ModelPairing.url:
            guard case .pairing(let sealed)? = try? PhonePost(json: request.body, over: .open) else {
                return server.answer(request.body).map { WebAnswer(status: 200, body: $0) } ?? none
            }
            return pairing?.answer(sealed, &server) ?? none
        case .post(_, let request): return relay?.answer(request) ?? none
        case .finish: return none
        }
    }

    /// A stranger answers, who knows what was asked; the relay has too much to do.
    private mutating func foreignReply(to message: Registrar.Action) -> WebAnswer {
        switch message {
        case .send(_, let request):
            _ = arrive(message)
            var owner = ""
            if case .register(let account) = request.kind { owner = account }
            let other = server.devices.last { $0.user != owner }?.record.publicKey ?? DeviceKey().publicKey
            let reply = RegistrationReply(.acknowledged(other), provider: Self.stranger.publicKey)
            return WebAnswer(status: 200, body: reply.json)
        case .post(_, let request):
            guard case .record(let record)? = try? PhonePost(json: request.body, over: .open) else {
                return ModelRelay.answer(429, #"{"code":"too-many-requests"}"#)
            }
            var verdict = RegistrationReply.Verdict.ended(record.device)
            if case .registration(let registration) = record.content { verdict = .acknowledged(registration.publicKey) }
            let reply = SignedReply.body(
                RegistrationReply(verdict, provider: Self.provider.publicKey), to: record.asked,
                by: EnvelopeSigner(Self.stranger), for: TestPhone.topic)
            return WebAnswer(status: 200, body: reply)
        case .finish: return WebAnswer(status: 404, body: [])
        }
    }

    /// Lets the app and the network work undisturbed. Returns what is wrong then, or nil.
    mutating func settle() throws -> String? {
        for _ in 0..<2 {
            // The phone hears of another push key, and of ended grants, with the daily record.
            if pushKey > 0 || !server.endedGrants.isEmpty { now = now.adding(.days(1)) }
            // An update without users tells what is left of a log-out, as that of another user does.
            for user in users.sorted() { update(user) }
            if users.isEmpty { handle(.resume(facts)) }
            for _ in 0..<60 where !network.isEmpty { answer(network.removeFirst()) }
        }
        if !network.isEmpty { return "it never ends" }
        return try fault() ?? remainder()
    }
}

extension Registrar.Action {
    var message: Int {
        switch self {
        case .send(let message, _), .post(let message, _): message
        case .finish: 0
        }
    }
}

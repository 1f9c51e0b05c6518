import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService

/// A phone with a Keychain, a file and the machine, a network, a provider, and perhaps its app's relay and a code to pair with: a
/// value, so that a test goes on from it in every way. Its time stands still.
struct RegistrationWorld {
    /// Something that happens. "First" and "last" are the oldest and the newest message that is under way.
    enum Happening: String, CaseIterable {
        case updateA, updateB, logOutA, newToken
        case answerFirst, answerLast, lose, loseReply
        /// The deadline passes, and the reply comes after it.
        case replyTooLate, lateReply
        case cutReply, foreignReply
        /// The process ends; what is under way arrives, or does not.
        case relaunchAfterArrival, relaunchAfterLoss
        /// The process ends after the device's part of an update, before the state is saved.
        case killedInUpdateA
        /// The process ends when the end of a log-out is saved, before the keys are deleted.
        case killedInLogOutA

        // With a relay.
        case pairA
        /// The provider names another push key from now on.
        case newPushKey
    }

    /// What is under way.
    enum Request {
        case channel(RegistrationRequest)
        case web(WebRequest)
    }

    private static let now = Timestamp(milliseconds: 1_767_225_600_000)
    private static let provider = ProviderKey()
    private static let stranger = ProviderKey()
    private static let pushKeys = [PushKey().publicKey, PushKey().publicKey]

    private var keychain = ModelKeychain()
    private var file: ContiguousArray<UInt8>?
    private var machine = RegistrationMachine()
    private var network: [(message: Int, request: Request)] = []
    private var lateReply: (message: Int, request: Request, reply: WebAnswer)?
    private var relay: ModelRelay?
    private var pairing: ModelPairing?
    private var server = ModelServer(Self.provider)
    private var pushKey = 0
    /// The devices that were logged out before the phone had ever heard of their provider: it has nobody to tell.
    private var unheard: Set<String> = []
    private var token: UInt8 = 1
    /// The users whose last event is an update.
    private var users: Set<String> = []
    /// The token of each user's last update.
    private var reported: [String: UInt8] = [:]
    private var outcomes: [String: PushAccounts.Outcome] = [:]

    private let trust: FirstTrust

    init(relay: ModelRelay? = nil, isBuiltIn: Bool = false) throws {
        self.relay = relay
        trust = isBuiltIn ? .provider(Self.provider.publicKey) : .firstReply
        guard relay != nil else { return }
        pairing = try ModelPairing(Self.provider.publicKey, of: "A")
        namePushKey()
    }

    private mutating func namePushKey() {
        for user in ["A", "B"] { server.pushKeys[user] = Self.pushKeys[pushKey] }
    }

    var store: KeychainKeyStore { KeychainKeyStore(items: keychain.process("keys"), accessGroup: "keys") }

    private var saved: SavedEnrolment { file.map { .text($0) } ?? .none }

    // MARK: Events

    /// Lets something happen. Returns false if it cannot now.
    mutating func step(_ happening: Happening) throws -> Bool {
        keychain = keychain.copy()
        switch happening {
        case .updateA: update("A")
        case .updateB: update("B")
        case .killedInUpdateA:
            update("A", isSaved: false)
            relaunch()
        case .logOutA:
            users.remove("A")
            try logOut()
        case .killedInLogOutA:
            guard users.contains("A") else { return false }
            try logOut(isComplete: false)
            relaunch()
        case .newToken:
            guard token < 3 else { return false }
            token += 1
        case .newPushKey:
            guard relay != nil, pushKey == 0 else { return false }
            pushKey = 1
            namePushKey()
        case .pairA:
            guard let pairing, let code = PairingCode(pairing.code) else { return false }
            noteUpdate("A")
            handle(.pair(account: "A", code, circumstances))
        case .relaunchAfterArrival:
            for message in network { _ = try arrive(message.request) }
            relaunch()
        case .relaunchAfterLoss: relaunch()
        case .lateReply:
            guard let (message, request, reply) = lateReply else { return false }
            lateReply = nil
            deliver(reply, to: (message, request))
        case .answerLast:
            guard network.count > 1 else { return false }
            try answer(network.removeLast())
        case .answerFirst, .lose, .loseReply, .replyTooLate, .cutReply, .foreignReply:
            guard let first = network.first else { return false }
            network.removeFirst()
            try end(first, happening)
        }
        return true
    }

    private mutating func end(_ first: (message: Int, request: Request), _ happening: Happening) throws {
        switch happening {
        case .answerFirst: try answer(first)
        case .cutReply:
            let reply = try arrive(first.request)
            let body = reply.body.dropLast(max(1, reply.body.count / 2))
            deliver(WebAnswer(status: reply.status, body: ContiguousArray(body)), to: first)
        case .foreignReply: try answerForeign(first)
        case .loseReply, .replyTooLate:
            let reply = try arrive(first.request)
            if happening == .replyTooLate { lateReply = (first.message, first.request, reply) }
            handle(.lost(message: first.message, problem: ""))
        default: handle(.lost(message: first.message, problem: ""))
        }
    }

    /// A stranger answers, who knows what was asked; the relay has too much to do.
    private mutating func answerForeign(_ first: (message: Int, request: Request)) throws {
        switch first.request {
        case .channel(let request):
            _ = try arrive(first.request)
            var owner = ""
            if case .register(let account) = request.kind { owner = account }
            let other = server.devices.last { $0.user != owner }?.record.publicKey ?? DeviceKey().publicKey
            let reply = RegistrationReply(.acknowledged(other), provider: Self.stranger.publicKey)
            handle(.replied(message: first.message, reply.json))
        case .web(let request):
            guard case .record(let record)? = try? PhonePost(json: request.body, over: .open) else {
                return deliver(ModelRelay.answer(429, #"{"code":"too-many-requests"}"#), to: first)
            }
            var verdict = RegistrationReply.Verdict.ended(record.device)
            if case .registration(let registration) = record.content { verdict = .acknowledged(registration.publicKey) }
            let reply = SignedReply.body(
                RegistrationReply(verdict, provider: Self.provider.publicKey), to: record.bytes,
                by: EnvelopeSigner(Self.stranger), for: TestPhone.topic)
            deliver(WebAnswer(status: 200, body: reply), to: first)
        }
    }

    private var circumstances: EnrolmentCircumstances {
        EnrolmentCircumstances(pushToken: [token], environment: .production, alertsAreShown: true)
    }

    private mutating func noteUpdate(_ user: String) {
        users.insert(user)
        reported[user] = token
    }

    private mutating func update(_ user: String, isSaved: Bool = true) {
        noteUpdate(user)
        handle(.update(account: user, circumstances), isSaved: isSaved)
    }

    private mutating func logOut(isComplete: Bool = true) throws {
        let isKnown = try store.pinnedProviders().contains { $0.account == "A" }
        if !isKnown, let device = try state.account("A")?.device { unheard.insert(device) }
        handle(.logOut(account: "A"), deletesKeys: isComplete)
    }

    private var state: EnrolmentState {
        get throws { try file.map { try EnrolmentState(json: $0) } ?? EnrolmentState() }
    }

    private mutating func handle(
        _ event: RegistrationMachine.Event, isSaved: Bool = true, deletesKeys: Bool = true
    ) {
        let terms = RegistrationMachine.Terms(
            topic: TestPhone.topic, trust: trust, relay: relay.map { _ in PushRelay(ModelRelay.origin) })
        for action in machine.handle(event, saved: saved, store: store, terms: terms, at: Self.now) {
            switch action {
            case .save(let state): if isSaved { file = state.json }
            case .send(let message, let request): network.append((message, .channel(request)))
            case .post(let message, let request): network.append((message, .web(request)))
            case .finish(let account, let outcome): outcomes[account] = outcome
            case .removeKeys(let account):
                // A Keychain in memory does not fail.
                if deletesKeys { _ = try? store.removeAccount(account) }
            case .failLogOut(let obstacle): outcomes["A"] = PushAccounts.Outcome(.blocked(obstacle))
            }
        }
    }

    private mutating func relaunch() {
        (machine, network, lateReply, outcomes) = (RegistrationMachine(), [], nil, [:])
    }

    private mutating func answer(_ message: (message: Int, request: Request)) throws {
        // This reply names the provider, in time.
        if let device = machine.registrations[message.message]?.request.record.deviceID { unheard.remove(device) }
        deliver(try arrive(message.request), to: message)
    }

    private mutating func deliver(_ reply: WebAnswer, to request: (message: Int, request: Request)) {
        switch request.request {
        case .channel: handle(.replied(message: request.message, reply.body))
        case .web: handle(.answered(message: request.message, reply))
        }
    }

    // MARK: The provider, the relay and the code's server

    private mutating func arrive(_ request: Request) throws -> WebAnswer {
        let none = WebAnswer(status: 404, body: [])
        switch request {
        case .channel(let request):
            var user: String?
            if case .register(let account) = request.kind { user = account }
            return WebAnswer(status: 200, body: server.answer(ContiguousArray(request.body), session: user) ?? [])
        case .web(let request) where request.url == ModelPairing.url:
            guard case .pairing(let sealed)? = try? PhonePost(json: request.body, over: .open) else {
                return server.answer(request.body).map { WebAnswer(status: 200, body: $0) } ?? none
            }
            return pairing?.answer(sealed, &server) ?? none
        case .web(let request): return try relay?.answer(request) ?? none
        }
    }

    /// The grants that have left the phone.
    private var granted: Set<String> { server.grants }

    // MARK: Invariants

    /// Returns what is wrong, or nil.
    func fault() throws -> String? {
        let state = try state
        let keys = try store.deviceKeys()
        for user in ["A", "B"] where !users.contains(user) {
            if keys.contains(where: { $0.name == user }) { return "a key of \(user), who has logged out" }
            if state.account(user) != nil { return "\(user) has logged out, and the state still has the account" }
        }
        for user in users where keys.count(where: { $0.name == user }) > 1 { return "two keys of \(user)" }
        if try store.pinnedProviders().contains(where: { $0.key != Self.provider.publicKey }) {
            return "a stranger is pinned"
        }
        let underWay = network.compactMap { message -> String? in
            switch message.request {
            case .channel(let request):
                guard case .register(let account) = request.kind else { return nil }
                return account
            case .web: return machine.registrations[message.message]?.wish.account
            }
        }
        if let fault = relayFault(state) { return fault }
        if Set(underWay).count != underWay.count { return "two registrations of one account" }
        for device in devices where state.account(device.user)?.device != device.id {
            let isEnded = state.ends.contains { $0.device == device.id }
            if !isEnded { return "a device of \(device.user) is left at the provider" }
        }
        for (user, outcome) in outcomes where outcome.status == .registered && users.contains(user) {
            let isBusy =
                underWay.contains(user) || machine.registrations.values.contains { $0.wish.account == user }
                || machine.relay.isAsked(for: user)
            if !isBusy, let fault = try registrationFault(user, state) { return "registered, but \(fault)" }
        }
        return nil
    }

    /// The devices at the provider, but for those that the phone can end with nobody.
    private var devices: [ModelServer.Device] { server.devices.filter { !unheard.contains($0.id) } }

    /// Where the phone's token and grants are.
    private func relayFault(_ state: EnrolmentState) -> String? {
        guard let relay else { return nil }
        if server.devices.contains(where: { $0.record.token != nil }) { return "a server has the token" }
        if network.count(where: {
            if case .web(let request) = $0.request { request.url != ModelPairing.url } else { false }
        })
            > 1
        {
            return "two requests to the relay"
        }
        // What a server has, and the phone has forgotten, would push for ever.
        let known = Set((state.accounts.flatMap(\.grants) + (state.relay?.ended ?? [])).map(\.text))
        let forgotten = granted.intersection(relay.live(ContiguousArray([token]).hex)).subtracting(known)
        return forgotten.isEmpty ? nil : "a grant that nobody ends"
    }

    private func registrationFault(_ user: String, _ state: EnrolmentState) throws -> String? {
        let device = devices.first { $0.id == state.account(user)?.device }
        guard let device else { return "the provider has no device of \(user)" }
        if try store.deviceKeys().last(where: { $0.name == user })?.publicKey != device.record.publicKey {
            return "the provider seals to another key of \(user)"
        }
        let token = reported[user].map { ContiguousArray([$0]).hex }
        guard let relay else { return device.record.token == token ? nil : "the provider has an old token" }
        if token.map({ relay.live($0).contains(device.grant ?? "") }) != true { return "the provider has no grant" }
        return nil
    }

    /// Lets the app and the network work undisturbed. Returns what is wrong then, or nil.
    mutating func settle() throws -> String? {
        keychain = keychain.copy()
        for _ in 0..<2 {
            // An update without users tells what is left of a log-out, as that of another user does.
            for user in users.sorted() { update(user) }
            if users.isEmpty { handle(.resume(circumstances)) }
            for _ in 0..<40 where !network.isEmpty { try answer(network.removeFirst()) }
        }
        if let fault = try fault() { return fault }
        if !network.isEmpty { return "it never ends" }
        let state = try state
        if Set(devices.map(\.user)) != users || devices.count != users.count {
            return "the provider has devices of \(devices.map(\.user)), and logged in are \(users.sorted())"
        }
        for user in users {
            if outcomes[user]?.status != .registered {
                return "\(user) is not registered: \(outcomes[user]?.description ?? "")"
            }
            if let fault = try registrationFault(user, state) { return fault }
            if relay == nil, devices.first(where: { $0.user == user })?.record.token != ContiguousArray([token]).hex {
                return "an old token"
            }
        }
        if let relay {
            let usable = relay.issued.filter { $0.isLive && granted.contains($0.text) }
            let current = usable.filter { $0.token == ContiguousArray([token]).hex }
            if Set(current.map(\.text)) != Set(devices.compactMap(\.grant)) { return "other grants than the devices'" }
            if !current.allSatisfy({ $0.pushKey == Self.pushKeys[pushKey].text }) {
                return "a grant for an old push key"
            }
        }
        return nil
    }

    // MARK: Comparing

    /// Equal for worlds that cannot differ any more: random names are numbered in the order in which they appear, and of sequences
    /// only their order counts.
    var fingerprint: String {
        get throws {
            var state = try state
            var sequences = state.accounts.map(\.sequence)
            let ends = state.ends.map { "|\($0.account) \($0.address != nil) \(Self.text($0.record, &sequences))" }
            state.ends = []
            var text = file == nil ? "-" : String(decoding: state.json, as: UTF8.self) + ends.joined()
            text += try store.deviceKeys().map { "|\($0.name) \($0.state) \($0.publicKey)" }.joined()
            text += try store.pinnedProviders().map { "|\($0.account) \($0.key)" }.joined()
            for (_, one) in machine.registrations.sorted(by: { $0.key < $1.key }) {
                text += "|\(Self.text(one.request.signed, &sequences)) \(Self.text(one.way)) \(Self.text(one.wish))"
                text += " \(one.request.pairingAddress != nil)"
            }
            for (name, wish) in machine.waiting.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                text += "|\(name) \(Self.text(wish))"
            }
            text += "|\(machine.ending?.end.device ?? "-") \(machine.lostEnds.sorted())"
            for (message, request) in network {
                text += "|\(machine.registrations[message] != nil)"
                switch request {
                case .channel(let request): text += Self.text(ContiguousArray(request.body), &sequences)
                case .web(let request): text += "\(request.url) \(Self.text(request.body, &sequences))"
                }
            }
            text += "|\(lateReply != nil)"
            if let relay {
                text += relay.issued.map { "|\($0.text) \($0.token) \($0.pushKey) \($0.isLive)" }.joined()
                text += machine.relay.wishes.map { "|\(Self.text($0))" }.joined()
                if case .grant(let wish, _, _) = machine.relay.call?.subject {
                    text += "|\(wish.map(Self.text) ?? "-")"
                }
                text += "|\(machine.relay.problem != nil) \(machine.relay.address?.token ?? "") \(pushKey)"
                text += "|\(granted.sorted()) \(pairing?.pairedDevice ?? "")"
            }
            for device in server.devices {
                text += "|\(device.id) \(device.user) \(unheard.contains(device.id)) \(device.grant ?? "")"
                text += Self.text(device.record.json, &sequences)
            }
            // Of a device that has ended only what could still be compared counts.
            for (id, signing) in server.signing.sorted(by: { $0.key < $1.key }) where text.contains(id) {
                text += "|\(id) \(signing.key?.text ?? "") \"sequence\":\(signing.sequence)"
                sequences.append(signing.sequence)
            }
            text += "|\(token) \(users.sorted()) \(reported.sorted { $0.key < $1.key }.map(\.value))"
            text += outcomes.sorted { $0.key < $1.key }.map { "|\($0.key) \($0.value.status)" }.joined()
            for (rank, sequence) in Set(sequences).sorted().enumerated().reversed() {
                text = text.replacing("\"sequence\":\(sequence)", with: "#\(rank)")
            }
            return Self.numbered(text)
        }
    }

    /// What a post says; sealed or of the relay, as it is.
    private static func text(_ body: ContiguousArray<UInt8>, _ sequences: inout [UInt64]) -> String {
        guard let post = try? PhonePost(json: body, over: .session), case .record(let record) = post else {
            if let record = try? DeviceRegistration(json: body), let sequence = record.sequence {
                sequences.append(sequence)
            }
            return String(decoding: body, as: UTF8.self)
        }
        return text(record, &sequences)
    }

    private static func text(_ record: SignedRecord, _ sequences: inout [UInt64]) -> String {
        sequences.append(record.sequence)
        return String(decoding: record.bytes, as: UTF8.self)
    }

    private static func text(_ way: RegistrationMachine.Way) -> String {
        switch way {
        case .channel: "channel"
        case .pairing: "pairing"
        case .open(_, let hello): "open \(hello != nil)"
        }
    }

    private static func text(_ wish: RegistrationMachine.Wish) -> String {
        let words: [String?] = [
            wish.account, "\(wish.attempt) \(wish.code != nil) \(wish.isNew) \(wish.relayProblem != nil)",
            "\(wish.circumstances.pushToken ?? [])",
        ]
        return " \(words.compactMap(\.self))"
    }

    private static func numbered(_ text: String) -> String {
        var (numbers, result): ([Substring: Int], String) = ([:], "")
        for word in text.split(whereSeparator: { $0 == "\"" || $0 == " " || $0 == "|" }) {
            if word.utf8.count < 16 {
                result += word
            } else {
                let number = numbers[word] ?? numbers.count
                numbers[word] = number
                result += "#\(number)"
            }
            result += " "
        }
        return result
    }
}

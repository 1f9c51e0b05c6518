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

    /// A device at the provider.
    struct Device {
        let id: String
        let user: String
        var key: DevicePublicKey
        var token: String?
        var capability: WithdrawalCapability?
        var grant: String?
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
    private var pairing: PairingServer?
    private var pushKey = 0
    /// The grants that have left the phone.
    private var granted: Set<String> = []
    private(set) var devices: [Device] = []
    private var token: UInt8 = 1
    /// The users whose last event is an update.
    private var users: Set<String> = []
    /// The token of each user's last update.
    private var reported: [String: UInt8] = [:]
    private var outcomes: [String: PushAccounts.Outcome] = [:]

    init(relay: ModelRelay? = nil) throws {
        self.relay = relay
        if relay != nil { pairing = try PairingServer(Self.provider.publicKey, topic: TestPhone.topic) }
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
            handle(.logOut(account: "A"))
        case .newToken:
            guard token < 3 else { return false }
            token += 1
        case .newPushKey:
            guard relay != nil, pushKey == 0 else { return false }
            pushKey = 1
        case .pairA:
            guard let pairing, let code = PairingCode(pairing.code) else { return false }
            noteUpdate("A")
            handle(.pair(account: "A", code, circumstances))
        case .relaunchAfterArrival:
            for (_, request) in network { _ = try arrive(request) }
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

    /// A stranger answers; the relay has too much to do.
    private mutating func answerForeign(_ first: (message: Int, request: Request)) throws {
        guard case .channel(let request) = first.request else {
            return deliver(ModelRelay.answer(429, #"{"code":"too-many-requests"}"#), to: first)
        }
        _ = try arrive(first.request)
        var owner = ""
        if case .register(let account) = request.kind { owner = account }
        let other = devices.last { $0.user != owner }?.key ?? DeviceKey().publicKey
        let reply = RegistrationReply(.acknowledged(other), provider: Self.stranger.publicKey)
        handle(.replied(message: first.message, reply.json))
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

    private mutating func handle(_ event: RegistrationMachine.Event, isSaved: Bool = true) {
        let terms = RegistrationMachine.Terms(
            topic: TestPhone.topic, trust: .firstReply, relay: relay.map { _ in PushRelay(ModelRelay.origin) })
        for action in machine.handle(event, saved: saved, store: store, terms: terms, at: Self.now) {
            switch action {
            case .save(let state): if isSaved { file = state.json }
            case .send(let message, let request): network.append((message, .channel(request)))
            case .post(let message, let request): network.append((message, .web(request)))
            case .finish(let account, let outcome): outcomes[account] = outcome
            case .failLogOut(let obstacle): outcomes["A"] = PushAccounts.Outcome(.blocked(obstacle))
            }
        }
    }

    private mutating func relaunch() {
        (machine, network, lateReply, outcomes) = (RegistrationMachine(), [], nil, [:])
    }

    private mutating func answer(_ message: (message: Int, request: Request)) throws {
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
        switch request {
        case .channel(let request): return WebAnswer(status: 200, body: try arrive(request))
        case .web(let request) where request.url == PairingServer.url:
            var (server, registrations) = (pairing, [DeviceRegistration]())
            let (provider, pushKey) = (Self.provider.publicKey, Self.pushKeys[pushKey])
            let answer = try server?.answer(request) { record in
                registrations.append(record)
                return RegistrationReply(
                    .acknowledged(record.publicKey), provider: provider, certificate: nil, pushKey: pushKey)
            }
            pairing = server
            for record in registrations { store(record, of: "A") }
            return answer ?? WebAnswer(status: 404, body: [])
        case .web(let request):
            guard var relay else { return WebAnswer(status: 404, body: []) }
            let answer = try relay.answer(request)
            self.relay = relay
            return answer
        }
    }

    private mutating func store(_ record: DeviceRegistration, of user: String) {
        let held = devices.first { $0.id == record.deviceID }
        devices.removeAll { $0.id == record.deviceID }
        if let grant = record.grant { granted.insert(grant) }
        devices.append(
            Device(
                id: record.deviceID ?? "", user: user, key: record.publicKey, token: record.token,
                capability: record.withdrawal, grant: record.grant ?? held?.grant))
    }

    private mutating func arrive(_ request: RegistrationRequest) throws -> ContiguousArray<UInt8> {
        switch request.kind {
        case .register(let user):
            let record = try DeviceRegistration(json: ContiguousArray(request.body))
            store(record, of: user)
            return RegistrationReply(
                .acknowledged(record.publicKey), provider: Self.provider.publicKey, certificate: nil,
                pushKey: relay.map { _ in Self.pushKeys[pushKey] }
            ).json
        case .withdraw:
            let root = try JSONDocument(parsing: ContiguousArray(request.body)).root
            devices.removeAll {
                $0.id == root["device"]?.string && $0.capability?.description == root["withdrawal"]?.string
            }
            return []
        }
    }

    // MARK: Invariants

    /// Returns what is wrong, or nil.
    func fault() throws -> String? {
        let state = try file.map { try EnrolmentState(json: $0) } ?? EnrolmentState()
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
            case .web(let request): return request.url == PairingServer.url ? "A" : nil
            }
        }
        if let fault = relayFault(state) { return fault }
        if Set(underWay).count != underWay.count { return "two registrations of one account" }
        for device in devices where state.account(device.user)?.device != device.id {
            let isWithdrawn = state.withdrawals.contains { $0.device == device.id }
            if !isWithdrawn { return "a device of \(device.user) is left at the provider" }
        }
        for (user, outcome) in outcomes where outcome.status == .registered && users.contains(user) {
            let isBusy =
                underWay.contains(user) || machine.registrations.values.contains { $0.wish.account == user }
                || machine.relay.isAsked(for: user)
            if !isBusy, let fault = try registrationFault(user, state) { return "registered, but \(fault)" }
        }
        return nil
    }

    /// Where the phone's token and grants are.
    private func relayFault(_ state: EnrolmentState) -> String? {
        guard let relay else { return nil }
        if devices.contains(where: { $0.token != nil }) { return "a server has the token" }
        if network.count(where: {
            if case .web(let request) = $0.request { request.url != PairingServer.url } else { false }
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
        if try store.deviceKeys().last(where: { $0.name == user })?.publicKey != device.key {
            return "the provider seals to another key of \(user)"
        }
        let token = reported[user].map { ContiguousArray([$0]).hex }
        guard let relay else { return device.token == token ? nil : "the provider has an old token" }
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
        let state = try file.map { try EnrolmentState(json: $0) } ?? EnrolmentState()
        if Set(devices.map(\.user)) != users || devices.count != users.count {
            return "the provider has devices of \(devices.map(\.user)), and logged in are \(users.sorted())"
        }
        for user in users {
            if outcomes[user]?.status != .registered {
                return "\(user) is not registered: \(outcomes[user]?.description ?? "")"
            }
            if let fault = try registrationFault(user, state) { return fault }
            if relay == nil, devices.first(where: { $0.user == user })?.token != ContiguousArray([token]).hex {
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

    /// Equal for worlds that cannot differ any more: random names are numbered in the order in which they appear.
    var fingerprint: String {
        get throws {
            var text = file.map { String(decoding: $0, as: UTF8.self) } ?? "-"
            text += try store.deviceKeys().map { "|\($0.name) \($0.state) \($0.publicKey)" }.joined()
            text += try store.pinnedProviders().map { "|\($0.account) \($0.key)" }.joined()
            for (_, one) in machine.registrations.sorted(by: { $0.key < $1.key }) {
                text += "|\(one.request.record.deviceID ?? "") \(one.request.record.publicKey) \(one.pairing != nil)"
                text += Self.text(one.wish)
            }
            for (name, wish) in machine.waiting.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                text += "|\(name) \(Self.text(wish))"
            }
            text += "|\(machine.withdrawal?.device ?? "-") \(machine.lostWithdrawals.sorted())"
            for (message, request) in network {
                text += "|\(machine.registrations[message] != nil)"
                switch request {
                case .channel(let request): text += String(decoding: request.body, as: UTF8.self)
                case .web(let request): text += "\(request.url) \(String(decoding: request.body, as: UTF8.self))"
                }
            }
            if let (_, _, reply) = lateReply { text += "|\(String(decoding: reply.body, as: UTF8.self))" }
            if let relay {
                text += relay.issued.map { "|\($0.text) \($0.token) \($0.pushKey) \($0.isLive)" }.joined()
                text += machine.relay.wishes.map { "|\(Self.text($0))" }.joined()
                if case .grant(let wish, _, _) = machine.relay.call?.subject {
                    text += "|\(wish.map(Self.text) ?? "-")"
                }
                text += "|\(machine.relay.problem != nil) \(machine.relay.address?.token ?? "") \(pushKey)"
                text += "|\(granted.sorted()) \(pairing?.pairedDevice ?? "")"
            }
            text += devices.map { "|\($0.id) \($0.user) \($0.key) \($0.token ?? "") \($0.grant ?? "")" }.joined()
            text += "|\(token) \(users.sorted()) \(reported.sorted { $0.key < $1.key }.map(\.value))"
            text += outcomes.sorted { $0.key < $1.key }.map { "|\($0.key) \($0.value.status)" }.joined()
            return Self.numbered(text)
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

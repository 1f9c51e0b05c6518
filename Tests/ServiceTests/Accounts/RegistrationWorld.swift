import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService

/// A phone with a Keychain, a file and the machine, a network, and a provider: a value, so that a test goes on from it in
/// every way. Its time stands still.
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
    }

    /// A device at the provider.
    struct Device {
        let id: String
        let user: String
        var key: DevicePublicKey
        var token: String?
        var capability: WithdrawalCapability?
    }

    private static let now = Timestamp(milliseconds: 1_767_225_600_000)
    private static let provider = ProviderKey()
    private static let stranger = ProviderKey()

    private var keychain = ModelKeychain()
    private var file: ContiguousArray<UInt8>?
    private var machine = RegistrationMachine()
    private var network: [(message: Int, request: RegistrationRequest)] = []
    private var lateReply: (message: Int, reply: ContiguousArray<UInt8>)?
    private(set) var devices: [Device] = []
    private var token: UInt8 = 1
    /// The users whose last event is an update.
    private var users: Set<String> = []
    /// The token of each user's last update.
    private var reported: [String: UInt8] = [:]
    private var outcomes: [String: PushAccounts.Outcome] = [:]

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
        case .relaunchAfterArrival:
            for (_, request) in network { _ = try arrive(request) }
            relaunch()
        case .relaunchAfterLoss: relaunch()
        case .lateReply:
            guard let (message, reply) = lateReply else { return false }
            lateReply = nil
            handle(.replied(message: message, reply))
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

    private mutating func end(
        _ first: (message: Int, request: RegistrationRequest), _ happening: Happening
    ) throws {
        switch happening {
        case .answerFirst: try answer(first)
        case .cutReply:
            let reply = try arrive(first.request)
            handle(.replied(message: first.message, ContiguousArray(reply.dropLast(max(1, reply.count / 2)))))
        case .foreignReply:
            _ = try arrive(first.request)
            var owner = ""
            if case .register(let account) = first.request.kind { owner = account }
            let other = devices.last { $0.user != owner }?.key ?? DeviceKey().publicKey
            let reply = RegistrationReply(.acknowledged(other), provider: Self.stranger.publicKey)
            handle(.replied(message: first.message, reply.json))
        case .loseReply, .replyTooLate:
            let reply = try arrive(first.request)
            if happening == .replyTooLate { lateReply = (first.message, reply) }
            handle(.lost(message: first.message, problem: ""))
        default: handle(.lost(message: first.message, problem: ""))
        }
    }

    private mutating func update(_ user: String, isSaved: Bool = true) {
        users.insert(user)
        reported[user] = token
        let circumstances = EnrolmentCircumstances(pushToken: [token], alertsAreShown: true)
        handle(.update(account: user, circumstances), isSaved: isSaved)
    }

    private mutating func handle(_ event: RegistrationMachine.Event, isSaved: Bool = true) {
        let terms = RegistrationMachine.Terms(topic: TestPhone.topic, trust: .firstReply)
        for action in machine.handle(event, saved: saved, store: store, terms: terms, at: Self.now) {
            switch action {
            case .save(let state): if isSaved { file = state.json }
            case .send(let message, let request): network.append((message, request))
            case .finish(let account, let outcome): outcomes[account] = outcome
            case .failLogOut(let obstacle): outcomes["A"] = PushAccounts.Outcome(.blocked(obstacle))
            }
        }
    }

    private mutating func relaunch() {
        (machine, network, lateReply, outcomes) = (RegistrationMachine(), [], nil, [:])
    }

    private mutating func answer(_ message: (message: Int, request: RegistrationRequest)) throws {
        handle(.replied(message: message.message, try arrive(message.request)))
    }

    // MARK: The provider

    private mutating func arrive(_ request: RegistrationRequest) throws -> ContiguousArray<UInt8> {
        switch request.kind {
        case .register(let user):
            let record = try DeviceRegistration(json: ContiguousArray(request.body))
            let device = Device(
                id: record.deviceID ?? "", user: user, key: record.publicKey, token: record.token,
                capability: record.withdrawal)
            devices.removeAll { $0.id == device.id }
            devices.append(device)
            return RegistrationReply(.acknowledged(record.publicKey), provider: Self.provider.publicKey).json
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
            guard case .register(let account) = message.request.kind else { return nil }
            return account
        }
        if Set(underWay).count != underWay.count { return "two registrations of one account" }
        for device in devices where state.account(device.user)?.device != device.id {
            let isWithdrawn = state.withdrawals.contains { $0.device == device.id }
            if !isWithdrawn { return "a device of \(device.user) is left at the provider" }
        }
        for (user, outcome) in outcomes where outcome.status == .registered && users.contains(user) {
            let isBusy = underWay.contains(user) || machine.registrations.values.contains { $0.account == user }
            if !isBusy, let fault = try registrationFault(user, state) { return "registered, but \(fault)" }
        }
        return nil
    }

    private func registrationFault(_ user: String, _ state: EnrolmentState) throws -> String? {
        let device = devices.first { $0.id == state.account(user)?.device }
        guard let device else { return "the provider has no device of \(user)" }
        if try store.deviceKeys().last(where: { $0.name == user })?.publicKey != device.key {
            return "the provider seals to another key of \(user)"
        }
        if device.token != reported[user].map({ ContiguousArray([$0]).hex }) { return "the provider has an old token" }
        return nil
    }

    /// Lets the app and the network work undisturbed. Returns what is wrong then, or nil.
    mutating func settle() throws -> String? {
        keychain = keychain.copy()
        for _ in 0..<2 {
            // An update without users tells what is left of a log-out, as that of another user does.
            for user in users.sorted() { update(user) }
            if users.isEmpty { handle(.resume) }
            for _ in 0..<20 where !network.isEmpty { try answer(network.removeFirst()) }
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
            if devices.first(where: { $0.user == user })?.token != ContiguousArray([token]).hex {
                return "an old token"
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
                text +=
                    "|\(one.account) \(one.attempt) \(one.request.record.deviceID ?? "") \(one.request.record.publicKey)"
                text += " \(one.circumstances.pushToken ?? [])"
            }
            for (name, circumstances) in machine.waiting.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                text += "|\(name) \(circumstances.pushToken ?? [])"
            }
            text += "|\(machine.withdrawal?.device ?? "-") \(machine.isWithdrawalLost)"
            for (message, request) in network {
                text += "|\(machine.registrations[message] != nil) \(String(decoding: request.body, as: UTF8.self))"
            }
            if let (_, reply) = lateReply { text += "|\(String(decoding: reply, as: UTF8.self))" }
            text += devices.map { "|\($0.id) \($0.user) \($0.key) \($0.token ?? "")" }.joined()
            text += "|\(token) \(users.sorted()) \(reported.sorted { $0.key < $1.key }.map(\.value))"
            text += outcomes.sorted { $0.key < $1.key }.map { "|\($0.key) \($0.value.status)" }.joined()
            return Self.numbered(text)
        }
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

import Foundation
import Pushcrypt
import TestPhone

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

extension RegistrationWorld {
    /// Returns what is wrong, or nil.
    func fault() throws -> String? {
        if let fault = misstep ?? waitFault() ?? relayFault() { return fault }
        for user in ["A", "B"] {
            let account = state.account(user)
            if !users.contains(user), account != nil { return "\(user) has logged out, and is still there" }
            if let account, account.keys.count > 1 { return "two keys of \(user)" }
            if account?.pins.contains(where: { $0.key != Self.provider.publicKey }) == true {
                return "\(user) trusts a stranger"
            }
        }
        for device in devices where state.account(device.user)?.registration?.device != device.id {
            let isEnded = state.ends.contains { $0.record.device == device.id }
            if !isEnded { return "a device of \(device.user) is left at the provider" }
        }
        for (user, outcome) in outcomes where outcome.status == .registered && !waiting.contains(user) {
            if users.contains(user), let fault = registrationFault(user) { return "registered, but \(fault)" }
        }
        return nil
    }

    /// An account that waits has a message under way, or waits for that to the relay.
    private func waitFault() -> String? {
        if Set(registrar.underway.keys) != Set(network.map(\.message)) { return "other messages are under way" }
        var registrations: [String] = []
        var (ends, relays) = (0, 0)
        for message in registrar.underway.values {
            switch message {
            case .registration(let account, _, _): registrations.append(account)
            case .end: ends += 1
            case .relay: relays += 1
            }
        }
        if Set(registrations).count != registrations.count { return "two registrations of one account" }
        if ends > 1 || relays > 1 { return "two ends, or two requests to the relay" }
        if Set(registrar.wishes.values.map(\.account)) != waiting { return "a wish without an update, or the reverse" }
        let idle = waiting.subtracting(registrations)
        return idle.isEmpty || relays == 1 ? nil : "\(idle) wait for nothing"
    }

    /// The devices at the provider, but for those that the phone can end with nobody.
    private var devices: [ModelServer.Device] { server.devices.filter { !unheard.contains($0.id) } }

    /// The token is at no server, and no grant at one that the phone has forgotten.
    private func relayFault() -> String? {
        guard let relay else { return nil }
        if server.devices.contains(where: { $0.record.token != nil }) { return "a server has the token" }
        // A grant that a server has, and the phone has forgotten, would push for ever.
        let grants = state.accounts.flatMap { $0.registration?.grants ?? [] } + (state.relay?.ended ?? [])
        let known = Set(grants.map(\.text))
        let isForgotten = relay.issued.contains {
            $0.isLive && server.grants.contains($0.text) && !known.contains($0.text)
        }
        return isForgotten ? "a grant that nobody ends" : nil
    }

    private func registrationFault(_ user: String) -> String? {
        let account = state.account(user)
        guard let device = devices.first(where: { $0.id == account?.registration?.device }) else {
            return "the provider has no device of \(user)"
        }
        if account?.currentKey?.publicKey != device.record.publicKey {
            return "the provider seals to another key of \(user)"
        }
        let token = reported[user].map { ContiguousArray([$0]).hex } ?? ""
        guard let relay else { return device.record.token == token ? nil : "the provider has an old token" }
        // Another account may have told a newer token.
        guard let grant = relay.issued.first(where: { $0.text == device.grant }), grant.token >= token else {
            return "the provider has no grant"
        }
        return grant.isLive || server.endedGrants.contains(grant.text) ? nil : "the provider's grant has ended"
    }

    /// Returns what is wrong when nothing is left to do.
    func remainder() -> String? {
        if Set(devices.map(\.user)) != users || devices.count != users.count {
            return "the provider has devices of \(devices.map(\.user)), and logged in are \(users.sorted())"
        }
        if !state.ends.isEmpty || state.relay?.ended.isEmpty == false { return "an end was never told" }
        let token = ContiguousArray([token]).hex
        for user in users {
            guard let outcome = outcomes[user], outcome.status == .registered else {
                return "\(user) is not registered: \(outcomes[user]?.problem ?? "nothing was told")"
            }
            if let fault = registrationFault(user) { return fault }
            if relay == nil, devices.first(where: { $0.user == user })?.record.token != token { return "an old token" }
        }
        guard let relay else { return nil }
        let current = relay.issued.filter { $0.isLive && $0.token == token && server.grants.contains($0.text) }
        if Set(current.map(\.text)) != Set(devices.compactMap(\.grant)) { return "other grants than the devices'" }
        let isOfPushKey = current.allSatisfy { grant in grant.pushKey == server.pushKeys["A"]?.text }
        return isOfPushKey ? nil : "a grant for an old push key"
    }

    // MARK: Comparing

    /// Equal for worlds that cannot differ any more: random names are numbered in the order in which they appear, and
    /// of sequences only their order counts.
    var fingerprint: String {
        var state = state
        var sequences = state.accounts.compactMap { $0.registration?.sequence }
        var text = state.ends.map {
            let isLost = registrar.lostEnds.contains($0.record.device)
            return "|\($0.account) \($0.address != nil) \(isLost) \(Self.text($0.record, &sequences))"
        }.joined()
        state.ends = []
        text += String(decoding: state.form.json, as: UTF8.self)
        for wish in registrar.wishes.values.sorted(by: { $0.number < $1.number }) {
            text += "|\(wish.account) \(wish.facts.pushToken ?? []) \(wish.code != nil) \(wish.isNew) \(wish.attempt)"
            text += " \(wish.renewal.map { "\($0)" } ?? "") \(wish.relayProblem != nil)"
        }
        text += "|\(registrar.relay.isEndRefused)"
        text += " \(registrar.relay.obstacle(at: TestApp.start) != nil) \(registrar.relay.address?.token ?? "")"
        for action in network {
            switch registrar.underway[action.message] {
            case .registration(let account, let request, let way):
                text += "|\(account) \(request.pairingAddress != nil) \(Self.text(way))"
                text += Self.text(request.signed, &sequences)
            case .end(let end, let hello): text += "|end \(end.record.device) \(hello != nil)"
            case .relay(let request, _): text += "|\(request.url) \(String(decoding: request.body, as: UTF8.self))"
            case nil: break
            }
        }
        text += "|\(lateReply != nil) \(pushKey) \(pairing?.pairedDevice ?? "")"
        if let relay {
            for grant in relay.issued {
                text += "|\(grant.text) \(grant.token) \(grant.pushKey) \(grant.isLive) \(grant.isKnown)"
                text += " \(server.grants.contains(grant.text)) \(server.endedGrants.contains(grant.text))"
            }
        }
        for device in server.devices {
            text += "|\(device.id) \(device.user) \(unheard.contains(device.id)) \(device.grant ?? "")"
            device.record.sequence.map { sequences.append($0) }
            text += String(decoding: device.record.json, as: UTF8.self)
        }
        // Of a device that has ended only what could still be compared counts.
        for (id, signing) in server.signing.sorted(by: { $0.key < $1.key }) where text.contains(id) {
            text += "|\(id) \(signing.key?.text ?? "") \"sequence\":\(signing.sequence)"
            sequences.append(signing.sequence)
        }
        text += "|\(token) \(users.sorted()) \(waiting.sorted()) \(reported.sorted { $0.key < $1.key }.map(\.value))"
        text += outcomes.sorted { $0.key < $1.key }.map { "|\($0.key) \($0.value.status)" }.joined()
        for (rank, sequence) in Set(sequences).sorted().enumerated().reversed() {
            text = text.replacing("\"sequence\":\(sequence)", with: "#\(rank)")
        }
        return Self.numbered(text)
    }

    private static func text(_ record: SignedRecord, _ sequences: inout [UInt64]) -> String {
        sequences.append(record.sequence)
        return String(decoding: record.bytes, as: UTF8.self)
    }

    private static func text(_ way: Registrar.Way) -> String {
        switch way {
        case .channel: "channel"
        case .pairing: "pairing"
        case .open(_, let hello): "open \(hello != nil)"
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

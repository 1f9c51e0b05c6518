import Foundation
import Pushcrypt
import PushcryptReceiver
import Testing
import VectorKit

@testable import PushcryptKeyStore
@testable import Simulated

/// `Tests/Data/Vectors/kit/sequences`: several pushes one after the other, what rings, and what a message changes.
/// (`Docs/Format.md`, Replay, and O-9.1 to O-9.5)
@Suite struct KitSequenceTests {
    @Test func everyPushOfASequenceEndsAsTheKitSays() throws {
        let vectors = try KitGroup.sequences.vectors()
        for vector in vectors { try check(vector) }
        print("vectors: kit/sequences: \(vectors.count)")
    }

    private func check(_ vector: KitVector) throws {
        let name = Comment(rawValue: vector.path)
        let receiver = try KitReceiver(vector, at: .start)
        var run = try Run(vector, receiver, name)
        var outcome = ""
        for line in try vector.text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 5, name)
            let now = Timestamp(milliseconds: try #require(UInt64(words[0]), name))
            guard let found = try run.handle(words, at: now) else { continue }
            #expect(found == words[3], name)
            if words[1] != "remove" { outcome = found }
        }
        #expect(outcome == vector.expect, name)
        try run.phone.expect(receiver.learnedAfter, receiver.topic, name)
        let states = try run.phone.store.keys().reduce(into: [:]) { $0[$1.publicKey] = "\($1.state)" }
        for line in vector.all("device-after") {
            let words = line.split(separator: " ")
            let key = try KitReceiver.deviceKey(String(words[1])).publicKey
            #expect(states[key] ?? "deleted" == words[0], name)
        }
    }

    /// A phone and its deliveries.
    private struct Run {
        let phone: Phone
        private let receiver: KitReceiver
        private let isStrict: Bool
        private let room: Int
        private var database: ExtensionDatabase
        private var lock: SQLiteConnection?
        /// nil for one that was given out at once.
        private var deliveries: [(push: OpenedPush, claim: ReplayClaim)?] = []
        /// The first request of each message that opened.
        private var requests: [MessageMark: String] = [:]

        init(_ vector: KitVector, _ receiver: KitReceiver, _ name: Comment) throws {
            self.receiver = receiver
            isStrict = vector.optional("strict") == "yes"
            room = vector.optional("room").flatMap { Int($0) } ?? ReplayRules.maximumRows
            let accounts = try vector.all("account").reduce(into: [DevicePublicKey: String]()) { accounts, line in
                let words = line.split(separator: " ").map(String.init)
                accounts[try KitReceiver.deviceKey(words[1]).publicKey] = words[0]
            }
            let pins = try vector.all("account-pin").reduce(into: [String: [ProviderPublicKey]]()) { pins, line in
                let words = line.split(separator: " ").map(String.init)
                pins[words[0], default: []].append(try ProviderPublicKey(text: words[1]))
            }
            phone = try Phone(
                receiver, name, floor: Timestamp(milliseconds: try vector.number("floor")),
                pending: try vector.optional("pending").map(KitReceiver.deviceKey), accounts: accounts, pins: pins)
            database = Self.open(phone, room)
        }

        private static func open(_ phone: Phone, _ room: Int) -> ExtensionDatabase {
            ExtensionDatabase(in: phone.folder.path, busyTimeout: 20, maximumRows: room)
        }

        /// Handles an event; returns its verdict or outcome, if it has one.
        mutating func handle(_ words: [String], at now: Timestamp) throws -> String? {
            let request = words[2] == "-" ? nil : words[2]
            switch words[1] {
            case "receive": return try receive(words[4], request, at: now, expected: words[3])
            case "take": return try take(words[4], request, at: now)
            case "hand-over": return try handOver(Int(words[2]), at: now)
            case "remove":
                let shown = database.replay.withdrawn().compactMap { requests[$0] }.sorted()
                return shown.isEmpty ? "nothing" : shown.joined(separator: ",")
            case "lose-guard":
                for name in try FileManager.default.contentsOfDirectory(atPath: phone.folder.path)
                where name.hasPrefix("extension.db") { try FileManager.default.removeItem(at: phone.folder.file(name)) }
                _ = try ExtensionDatabase.create(
                    in: phone.folder.path, floor: now.subtracting(milliseconds: 600_000))
                database = Self.open(phone, room)
            case "lock-guard":
                lock = try SQLiteConnection(path: phone.folder.file("extension.db").path, busyTimeout: 0)
                try lock?.execute("BEGIN IMMEDIATE")
            case "unlock-guard": lock = nil
            case "learn": return try learn(words[4])
            // A message's changes are in the device's store already.
            case "launch": break
            case "pin":
                do {
                    let pin = ProviderPin(try ProviderPublicKey(text: words[2]))
                    try phone.store.edit { try $0.pin(pin, topic: receiver.topic) }
                    return "pinned"
                } catch let error as KeyStoreError {
                    return error.code.description
                }
            case "unpin":
                let key = try ProviderPublicKey(text: words[2])
                return try phone.store.edit { $0.unpin(key) } ? "unpinned" : "nothing"
            default: Issue.record("an unknown event: \(words[1])")
            }
            return nil
        }

        /// The app gets a certificate in a reply.
        private func learn(_ text: String) throws -> String {
            var trust = try phone.store.state().trust(for: receiver.topic, account: Phone.account)
            do throws(TrustError) {
                let certificate = try Certificate(text: text)
                _ = try trust.accept(certificate, for: receiver.topic)
            } catch {
                return error.code.description
            }
            let certificate = try Certificate(text: text)
            let signer = try #require(
                trust.pinned.first { (try? certificate.check(for: $0, topic: receiver.topic)) != nil })
            return switch try phone.store.edit({ try $0.learn(certificate, of: signer, topic: receiver.topic) }) {
            case .raised: "accepted"
            case .unchanged: "unchanged"
            case .conflict: "certificate-conflict"
            }
        }

        private var notifications: NotificationReceiver {
            phone.receiver(database, topic: receiver.topic, duplicates: isStrict ? .fallback : .quiet)
        }

        private func push(_ text: String) throws -> IncomingPush {
            IncomingPush(try ReceivedPush(Scene.push(value: "\"\(text)\"")))
        }

        /// `expected` only distinguishes the two verdicts that nobody sees when both rings.
        private mutating func receive(
            _ text: String, _ request: String?, at now: Timestamp, expected: String
        ) throws -> String {
            let reception = notifications.receive(try push(text), requestID: request, at: now)
            defer { notifications.deleteRetiredKeys(after: reception.delivery, at: now) }
            try note(reception.delivery.opened, request)
            if reception.opened != nil || ["duplicate", "withdrawn"].contains(reception.code) {
                deliveries.append(nil)
            }
            return outcome(reception.delivery, ringing: expected == "again" ? "again" : "new")
        }

        private mutating func take(_ text: String, _ request: String?, at now: Timestamp) throws -> String {
            let push = try push(text)
            let opened: OpenedPush
            do throws(Unopened) {
                opened = try notifications.open(push, requestID: request, at: now)
            } catch {
                return error.delivery.code
            }
            let claim = opened.take(at: now)
            deliveries.append((opened, claim))
            #expect(opened.settle(at: now) == nil)
            try note(opened.delivery(after: claim).opened, request)
            #expect(claim.mayFetch == (claim.verdict == .new || claim.verdict == .again && !claim.isQuiet))
            return claim.isRepeated ? "again-handed-over" : "\(claim.verdict)"
        }

        private mutating func note(_ opened: OpenedNotification?, _ request: String?) throws {
            guard let opened, let request else { return }
            let account = try phone.store.state().accounts.first { account in
                account.keys.contains { $0.publicKey == opened.openedWith }
            }?.name
            let message = ReplayMessage(
                opened.messageID, from: opened.provider, epoch: opened.epoch, trustFloor: opened.learned.floor,
                to: account ?? "", requestID: request, sentAt: opened.sentAt, expiresAt: opened.expiresAt)
            requests[message.mark] = requests[message.mark] ?? request
        }

        private func handOver(_ number: Int?, at now: Timestamp) throws -> String {
            let index = try #require(number) - 1
            let taken = try #require(deliveries[index])
            let delivery = taken.push.handOver(after: taken.claim, at: now).delivery
            notifications.deleteRetiredKeys(after: delivery, at: now)
            return outcome(delivery, ringing: taken.claim.verdict == .again ? "again" : "new")
        }

        private func outcome(_ delivery: Delivery, ringing: String) -> String {
            guard let opened = delivery.opened else { return delivery.code }
            let isQuiet = delivery.shown.passive && !delivery.shown.sound
            if opened.isDuplicate { return isQuiet ? "duplicate-quietly" : "copy" }
            return isQuiet ? "again-quietly" : ringing
        }
    }
}

import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing
import VectorKit

/// `Tests/Data/Vectors/kit/sequences`: several pushes one after the other, what is shown twice, and what a message changes.
/// (`Docs/Format.md`, Replay, and O-9.1 to O-9.3)
@Suite struct KitSequenceTests {
    @Test func everyPushOfASequenceEndsAsTheKitSays() throws {
        let vectors = try KitFolder.sequences.vectors()
        for vector in vectors { try check(vector) }
        print("vectors: kit/sequences: \(vectors.count)")
    }

    private func check(_ vector: KitVector) throws {
        let name = Comment(rawValue: vector.path)
        let receiver = try KitReceiver(vector, at: .start)
        let floor = Timestamp(milliseconds: try vector.number("floor"))
        let pending = try vector.optional("pending").map(KitReceiver.deviceKey)
        let phone = try Phone(receiver, name, floor: floor, pending: pending)
        var run = try Run(phone, receiver, isStrict: vector.optional("strict") == "yes", floor: floor)
        var outcome = ""
        for line in try vector.text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 4, name)
            let now = Timestamp(milliseconds: try #require(UInt64(words[0]), name))
            if words[2] == "guard-lost" {
                try run.loseGuards(at: now)
            } else {
                outcome = run.receive(words[3], request: words[1] == "-" ? nil : words[1], at: now)
                #expect(outcome == words[2], name)
            }
        }
        #expect(outcome == vector.expect, name)
        try phone.expect(receiver.trustAfter, receiver.topic, name)
        guard pending != nil else { return }
        let after = try vector.all("device-after").map { line in
            let words = line.split(separator: " ")
            return "\(words[0]) \(try KitReceiver.deviceKey(String(words[1])).publicKey)"
        }
        #expect(try Set(phone.store.deviceKeys().map { "\($0.state) \($0.publicKey)" }) == Set(after), name)
    }

    /// A phone that gets one push after the other. A second guard beside its own says what it makes of each message, which the
    /// phone only shows.
    private struct Run {
        private let phone: Phone
        private let receiver: KitReceiver
        private let isStrict: Bool
        private let folder: TemporaryFolder
        private var guards: (own: ReplayFile, second: ReplayFile)

        init(_ phone: Phone, _ receiver: KitReceiver, isStrict: Bool, floor: Timestamp) throws {
            self.phone = phone
            self.receiver = receiver
            self.isStrict = isStrict
            folder = try TemporaryFolder()
            guards = (phone.replay, try ReplayFile.create(in: folder.path, floor: floor))
        }

        mutating func loseGuards(at now: Timestamp) throws {
            for folder in [phone.folder, folder] {
                for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
                where name.hasPrefix("replay.db") { try FileManager.default.removeItem(at: folder.file(name)) }
            }
            guards = (
                ReplayFile.open(in: phone.folder.path, at: now), ReplayFile.open(in: folder.path, at: now)
            )
        }

        func receive(_ text: String, request: String?, at now: Timestamp) -> String {
            let reception = phone.receiver(
                guards.own, topic: receiver.topic, duplicates: isStrict ? .fallback : .quiet
            ).receive(Scene.push(value: "\"\(text)\""), requestID: request, at: now)
            guard let opened = reception.opened else { return reception.code }
            let verdict = guards.second.judge(
                sender: opened.sender, messageID: opened.messageID,
                requestID: request ?? opened.messageID.description, sentAt: opened.sentAt,
                expiresAt: opened.expiresAt, at: now
            ).verdict
            let isQuiet = reception.shown.passive && !reception.shown.sound
            switch verdict {
            case .new: return isQuiet ? "new, quietly" : "new"
            case .sameRequest: return isQuiet ? "again-quietly" : "again"
            case .duplicate: return isQuiet ? "duplicate-quietly" : "duplicate, aloud"
            }
        }
    }
}

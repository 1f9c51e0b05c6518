import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A phone may end an extension at any moment, in the middle of whatever it does.
@Suite struct KillTests {
    /// A phone with its own store, and someone who seals for it.
    private struct Phone {
        private let directory: TemporaryDirectory
        private let program: KilledProgram
        private let key: DevicePublicKey
        private let sealer: Sealer

        init() throws {
            directory = try TemporaryDirectory()
            program = try KilledProgram(builtProgram(), in: directory)
            let topic = try Topic("com.example.app")
            let provider = ProviderKey()
            sealer = Sealer(provider: provider, topic: topic)
            let now = Console.standard.timestamp
            let store = try SQLiteKeyStore.create(in: directory.file("store"), passphrase: nil)
            key = try store.change { (state) throws(KeyStoreError) in
                try state.pin(ProviderPin(provider.publicKey), topic: topic)
                return try state.add(topic: topic, at: now)
            }.publicKey
            _ = try ExtensionDatabase.create(in: directory.file("store"), floor: now.subtracting(milliseconds: 1000))
        }

        /// Seals a new message, for `open`.
        func seal() throws {
            let payload = #"{"aps":{"alert":"Hello","sound":"default"}}"#
            let push = try sealer.seal(Sealer.Message(payload.utf8), to: key, at: Console.standard.timestamp)
            try directory.write(String(decoding: push.json, as: UTF8.self), to: "sealed.json")
        }

        /// Starts the program, which does nothing.
        func start() throws -> KilledProgram.Run { try program.run(["--version"]) }

        func open(request: String, killedAfter delay: UInt32? = nil) throws -> KilledProgram.Run {
            try program.run(
                ["--store", directory.file("store"), "open", "--request-id", request, directory.file("sealed.json")],
                killedAfter: delay)
        }

        /// Seals messages as lines of `open --batch`, each with another request.
        func sealLines(_ count: Int) throws -> [String] {
            try (0..<count).map { number in
                let payload = #"{"aps":{"alert":"\#(number)","sound":"default"}}"#
                let push = try sealer.seal(Sealer.Message(payload.utf8), to: key, at: Console.standard.timestamp)
                return
                    #"{"payload":\#(String(decoding: push.json, as: UTF8.self)),"request_id":"r\#(number)","n":\#(number)}"#
            }
        }

        func open(lines: some Sequence<String>, killedAfter delay: UInt32? = nil) throws -> KilledProgram.Run {
            let file = try directory.write(lines.map { $0 + "\n" }.joined(), to: "lines")
            return try program.run(
                ["--store", directory.file("store"), "open", "--batch", "--duplicates", "suppress", file],
                killedAfter: delay)
        }

        /// Another number would mean another file: one that was found damaged, and recreated.
        func guardFile() throws -> UInt64 {
            let facts = try FileManager.default.attributesOfItem(atPath: directory.file("store/extension.db"))
            return try #require(facts[.systemFileNumber] as? UInt64)
        }
    }

    /// The presentation of one run.
    private enum Shown {
        case nothing
        case quietly
        case asNew

        init(_ run: KilledProgram.Run) throws {
            if run.output.isEmpty {
                self = .nothing
                return
            }
            // One write has brought all of it or nothing.
            try #require(run.output.hasPrefix(#"{"outcome":"opened""#) && run.output.hasSuffix("}\n"), "\(run.output)")
            self = run.output.contains(#""sound":true,"passive":false"#) ? .asNew : .quietly
        }
    }

    private static let requests = ["a", "b"]
    private static let killsPerMessage = 4
    /// `make nightly PART=kill-points` kills at every call, and far more often.
    private static let kills = 60

    @Test func aMessageRingsAtMostOnceAndIsAlwaysShownWhateverIsKilled() throws {
        let phone = try Phone()
        let file = try phone.guardFile()
        try phone.seal()
        // A kill may come at any moment of a run, and most come once the program has started.
        let run = try shortest { try phone.open(request: "\($0)") }
        let start = min(run, try shortest { _ in try phone.start() })
        var killed = 0
        while killed < Self.kills {
            try phone.seal()
            killed += try killAtRandom(phone, within: [0...run, start...run, start...run])
            #expect(try phone.guardFile() == file)
        }
        print("kills: while opening: \(killed)")
    }

    /// Docs/Operations.md, "After a kill".
    @Test func linesWithoutAnAnswerAreAnsweredUnderTheirRequests() throws {
        let phone = try Phone()
        let run = try shortest { _ in try phone.open(lines: phone.sealLines(60)) }
        let start = min(run, try shortest { _ in try phone.start() })
        var (killed, quiet) = (0, 0)
        while killed < 6 {
            let lines = try phone.sealLines(60)
            let first = try phone.open(lines: lines, killedAfter: .random(in: start...run))
            guard first.exit == nil else { continue }
            killed += 1
            let answered = first.output.split(separator: "\n").count
            let second = try phone.open(lines: lines.dropFirst(answered))
            let answers = second.output.split(separator: "\n")
            #expect(second.exit == 0 && answers.count == lines.count - answered)
            for (answer, number) in zip(answers, answered...) {
                #expect(answer.contains(#""outcome":"opened""#) && answer.hasSuffix(#","n":\#(number)}"#))
                quiet += answer.contains(#""passive":true"#) ? 1 : 0
            }
        }
        print("kills: open --batch: \(killed)")
        print("after these kills \(quiet) messages came without their sound")
    }

    /// Returns how long a run takes here, in microseconds.
    private func shortest(_ body: (Int) throws -> KilledProgram.Run) throws -> UInt32 {
        let clock = ContinuousClock()
        var time = Duration.seconds(1)
        for number in 0..<5 { time = min(time, try clock.measure { _ = try body(number) }) }
        return UInt32(time / .microseconds(1))
    }

    /// Opens one message again and again, and returns how many runs were killed on the way.
    private func killAtRandom(_ phone: Phone, within times: [ClosedRange<UInt32>]) throws -> Int {
        var rings = 0
        var killed = 0
        for _ in 0..<Self.killsPerMessage {
            let request = try #require(Self.requests.randomElement())
            let run = try phone.open(request: request, killedAfter: .random(in: #require(times.randomElement())))
            killed += run.exit == nil ? 1 : 0
            if try Shown(run) == .asNew { rings += 1 }
            #expect(run.messages.isEmpty, "\(run.messages)")
        }
        for request in Self.requests.shuffled() {
            let run = try phone.open(request: request)
            #expect(run.exit == 0 && run.messages.isEmpty, "\(run.messages)")
            let shown = try Shown(run)
            #expect(shown != .nothing)
            if shown == .asNew { rings += 1 }
        }
        // One that was killed after it had handed the message over, before it had written all of it, has taken the ring.
        #expect(rings == 1 || rings == 0 && killed > 0, "rang \(rings) times, \(killed) were killed")
        return killed
    }
}

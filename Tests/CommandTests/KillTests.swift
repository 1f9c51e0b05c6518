import Foundation
import Testing

/// A phone may end an extension at any moment, in the middle of whatever it does.
@Suite struct KillTests {
    /// A store that opens, and the provider's that seals for it.
    private struct Pair {
        let directory: TemporaryDirectory
        let program: KilledProgram

        init() throws {
            directory = try TemporaryDirectory()
            program = try KilledProgram(builtProgram(), in: directory)
            try directory.write(#"{"aps":{"alert":"Hello","sound":"default"}}"#, to: "payload.json")
            for store in ["P", "D"] { _ = try succeed(["init"], store) }
            try directory.write(succeed(["keygen", "sender", "--topic", "com.example.app"], "P"), to: "sender.pub")
            try directory.write(succeed(["keygen", "device", "--topic", "com.example.app"], "D"), to: "phone.pub")
            _ = try succeed(["device", "add", "phone", directory.file("phone.pub")], "P")
            _ = try succeed(["sender", "trust", "provider", directory.file("sender.pub")], "D")
        }

        private func succeed(_ arguments: [String], _ store: String) throws -> String {
            let run = try program.run(["--store", directory.file(store)] + arguments)
            try #require(run.exit == 0, "\(arguments): \(run.messages)")
            return run.output
        }

        /// Seals a new message, for `open`.
        func seal() throws {
            try directory.write(
                succeed(["seal", "--to", "phone", directory.file("payload.json")], "P"), to: "sealed.json")
        }

        func open(request: String, killedAfter delay: UInt32? = nil) throws -> KilledProgram.Run {
            try program.run(
                ["--store", directory.file("D"), "open", "--request-id", request, directory.file("sealed.json")],
                killedAfter: delay)
        }

        /// Another number would mean another file: one that was found damaged, and made anew.
        func replayFile() throws -> UInt64 {
            let facts = try FileManager.default.attributesOfItem(atPath: directory.file("D/replay.db"))
            return try #require(facts[.systemFileNumber] as? UInt64)
        }
    }

    /// What a person was shown of one run.
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

    private static let requests = ["a", "b", "c"]
    private static let killsPerMessage = 20
    private static let kills = 1000

    /// Two at a time, each with files of its own.
    @Test(arguments: 0..<2) func aMessageIsNewUnderOneRequestWhateverIsKilled(_ share: Int) throws {
        let pair = try Pair()
        let file = try pair.replayFile()
        try pair.seal()
        // How long a run takes here, in microseconds: a kill may come at any moment of it.
        let clock = ContinuousClock()
        var time = Duration.seconds(1)
        for request in 0..<5 { time = min(time, try clock.measure { _ = try pair.open(request: "\(request)") }) }
        var killed = 0
        while killed < Self.kills / 2 {
            try pair.seal()
            killed += try killAtRandom(pair, within: UInt32(time / .microseconds(1)))
            #expect(try pair.replayFile() == file)
        }
        print("kills: \(killed)")
    }

    /// Opens one message again and again, and returns how many runs were killed on the way.
    private func killAtRandom(_ pair: Pair, within time: UInt32) throws -> Int {
        var new = Set<String>()
        var killed = 0
        for _ in 0..<Self.killsPerMessage {
            let request = try #require(Self.requests.randomElement())
            let run = try pair.open(request: request, killedAfter: .random(in: 0...time))
            killed += run.exit == nil ? 1 : 0
            if try Shown(run) == .asNew { new.insert(request) }
            #expect(run.messages.isEmpty, "\(run.messages)")
        }
        // Whoever has remembered the message and was killed before showing it shows it now, as new; nobody else does.
        for request in Self.requests.shuffled() {
            let run = try pair.open(request: request)
            #expect(run.exit == 0 && run.messages.isEmpty, "\(run.messages)")
            let shown = try Shown(run)
            #expect(shown != .nothing)
            if shown == .asNew { new.insert(request) }
        }
        #expect(new.count == 1, "new under \(new.sorted())")
        return killed
    }
}

import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A queue's reader may end at any moment. `make nightly PART=kill-points` kills a single `open` at every call.
@Suite struct KillTests {
    private let directory: TemporaryDirectory
    private let key: DevicePublicKey
    private let sealer: Sealer

    /// A phone with its own store, and someone who seals for it.
    init() throws {
        directory = try TemporaryDirectory()
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

    /// A new message as a line of `open --batch`, with a request of its own.
    private func line(_ number: Int) throws -> String {
        let payload = #"{"aps":{"alert":"\#(number)","sound":"default"}}"#
        let push = try sealer.seal(Sealer.Message(payload.utf8), to: key, at: Console.standard.timestamp)
        return #"{"payload":\#(String(decoding: push.json, as: UTF8.self)),"request_id":"r\#(number)","n":\#(number)}"#
    }

    private func start(_ lines: some Sequence<String>) throws -> RunningProgram {
        let file = try directory.write(lines.map { $0 + "\n" }.joined(), to: "lines")
        return try RunningProgram(
            ["--store", directory.file("store"), "open", "--batch", "--duplicates", "suppress", file])
    }

    /// Docs/Operations.md, "After a kill".
    @Test func linesWithoutAnAnswerAreAnsweredUnderTheirRequests() throws {
        var killed = 0
        while killed < 6 {
            let lines = try (0..<60).map(line)
            let first = try start(lines)
            var answers = try first.lines(1)
            usleep(.random(in: 0...5000))
            first.raise(SIGKILL)
            answers += try first.rest()
            guard first.end() == -SIGKILL else { continue }
            killed += 1
            let second = try start(lines.dropFirst(answers.count))
            let rest = try second.rest()
            #expect(second.end() == 0 && rest.count == lines.count - answers.count)
            for (answer, number) in zip(rest, answers.count...) {
                #expect(answer.contains(#""outcome":"opened""#) && answer.hasSuffix(#","n":\#(number)}"#))
            }
        }
        print("kills: open --batch: \(killed)")
    }
}

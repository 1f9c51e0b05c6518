import Foundation
import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit
@testable import PushcryptKeyStore

/// No clock stops a command: what it may have done wrong is a warning.
@Suite struct ClockTests {
    /// 2026-11-20T13:46:40Z.
    private let start = Timestamp(milliseconds: 1_795_182_400_000)

    private func run(_ arguments: [String], in store: String, at now: Timestamp) throws -> Outcome {
        let captured = try CapturedConsole(now: now.milliseconds)
        let exit = PushcryptCommandKit.run(
            arguments: ["--store", store] + arguments, table: .pushcrypt, console: captured.console)
        return Outcome(exit: exit, output: try captured.output, messages: try captured.messages)
    }

    @Test(
        "A store seals, registers and rotates whatever the clock shows",
        arguments: [0, 946_684_800_000, 1_795_182_400_000 + 40 * 86_400_000, 4_102_444_800_001, 9_007_199_254_740_991])
    func everyClock(milliseconds: UInt64) throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("S")
        let now = Timestamp(milliseconds: milliseconds)
        let payload = try directory.write(#"{"aps":{"alert":"Hello"}}"#, to: "payload.json")
        let phone = try directory.write("\(DeviceKey().publicKey)", to: "phone.pub")
        for line in [["init"], ["key", "new", "provider", "--topic", "com.example.app"], ["key", "new", "device"]] {
            #expect(try run(line, in: store, at: start).exit == .done)
        }
        for line in [
            ["device", "add", "phone", phone], ["seal", "--to", "phone", payload],
            ["key", "rotate", "--kind", "provider"], ["key", "rotate", "--kind", "device"],
            ["key", "rotate", "--confirm"], ["key", "rotate", "--purge"],
            ["key", "rotate", "--kind", "provider", "--stolen", "--anyway"],
            ["key", "new", "provider", "--name", "new"],
        ] {
            let outcome = try run(line, in: store, at: now)
            #expect(outcome.exit == .done, "\(line): \(outcome.messages)")
        }
        // And right again.
        for words in [[], ["--if-older-than", "90d"]] {
            let line = ["key", "rotate", "default", "--kind", "provider"] + words
            #expect(try run(line, in: store, at: start.adding(.days(50))).exit == .done)
        }
    }

    @Test("A clock that is more than a day behind the last rotation is a warning, of rotate and doctor")
    func behind() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("S")
        let ahead = start.adding(.days(390))
        #expect(try run(["init"], in: store, at: start).exit == .done)
        let new = ["key", "new", "provider", "--topic", "com.example.app"]
        #expect(try run(new, in: store, at: start).exit == .done)
        #expect(!(try run(["key", "rotate"], in: store, at: ahead).messages.contains("warning")))
        let text = "warning: the clock shows \(start), but the key in use dates from \(ahead)"
        #expect(try run(["doctor"], in: store, at: start).output.contains("the key in use dates from \(ahead)"))
        // It counts as old.
        let cron = try run(["key", "rotate", "--if-older-than", "90d"], in: store, at: start)
        #expect(cron.exit == .done && cron.messages.contains(text) && cron.messages.contains("rotated default"))
        #expect(!(try run(["key", "rotate"], in: store, at: start).messages.contains("warning")))
        #expect(!(try run(["key", "rotate"], in: store, at: start.subtracting(.days(1))).messages.contains("warning")))
    }

    @Test("Two cron jobs at once rotate once", arguments: ["provider", "device"])
    func twoAtOnce(kind: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("S")
        let made = Console.standard.timestamp
        let store = try SQLiteKeyStore.create(in: path, passphrase: nil)
        _ = try store.generateProviderKey(topic: Topic("com.example.app"), at: made)
        try store.change { (state) throws(KeyStoreError) in try state.add(at: made) }
        usleep(1_100_000)
        let processes = try (0..<2).map { _ in
            let process = Process()
            process.executableURL = try builtProgram()
            process.arguments = ["--store", path, "key", "rotate", "--kind", kind, "--if-older-than", "1s"]
            process.environment = programEnvironment(["HOME": directory.path])
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            return process
        }
        // Both have found the key old before either can write, if they ask before they write.
        try store.write { (_) throws(KeyStoreError) in
            for process in processes { #expect(throws: Never.self) { try process.run() } }
            usleep(700_000)
        }
        for process in processes {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        if kind == "provider" {
            // A request lists the replaced epochs: epoch 0, once.
            #expect(try store.requestCertificate(at: Console.standard.timestamp).request.past.map(\.epoch) == [0])
        } else {
            #expect(try store.state().accounts[0].keys.map(\.generation) == [1, 2])
        }
    }
}

import Foundation
import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit
@testable import PushcryptKeyStore

/// What a command does to keys while the clock is wrong.
@Suite struct ClockTests {
    /// 2026-11-20T13:46:40Z.
    private let start = Timestamp(milliseconds: 1_795_182_400_000)
    /// 2000-01-01T00:00:00Z.
    private let ages = Timestamp(milliseconds: 946_684_800_000)

    private func run(
        _ arguments: [String], in store: String, at now: Timestamp, isSynchronised: Bool = false
    ) throws -> Outcome {
        let captured = try CapturedConsole(now: now.milliseconds)
        var console = captured.console
        console.isClockSynchronised = { isSynchronised }
        let exit = PushcryptCommandKit.run(
            arguments: ["--store", store] + arguments, table: .pushcrypt, console: console)
        return Outcome(exit: exit, output: try captured.output, messages: try captured.messages)
    }

    @Test("At 2000-01-01 no command ends or dates a key; --clock-is-right is the operator's word")
    func longAgo() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("S")
        #expect(try run(["init"], in: store, at: start).exit == .done)
        for kind in ["provider", "device"] {
            let words = ["key", "new", kind, "--topic", "com.example.app"]
            #expect(try run(words, in: store, at: start).exit == .done)
        }
        #expect(try run(["key", "rotate", "--kind", "device"], in: store, at: start).exit == .done)
        let keys = try SQLiteKeyStore.open(in: store)
        let (providers, devices) = (try keys.providerKeys(), try keys.deviceKeys())
        let lines = [
            ["key", "rotate", "--kind", "provider"], ["key", "rotate", "--confirm"],
            ["key", "new", "provider", "--name", "new"],
            ["key", "new", "device", "--name", "new"],
        ]
        for line in lines {
            let refused = try run(line, in: store, at: ages, isSynchronised: true)
            #expect(refused.exit == .usage && refused.output.isEmpty)
            #expect(
                refused.messages == """
                    pushcrypt: error: implausible-clock: the clock shows 2000-01-01T00:00:00Z, but this store was last \
                    changed at \(start): set the clock; nothing was changed
                    pushcrypt: hint: if the clock is right, --clock-is-right says so

                    """)
        }
        #expect(try keys.providerKeys() == providers && keys.deviceKeys() == devices)
        // Nothing is ended here, so nothing is asked.
        #expect(try run(["key", "rotate", "--purge"], in: store, at: ages).exit == .done)
        #expect(
            try run(["key", "rotate", "--kind", "provider", "--if-older-than", "1d"], in: store, at: ages).exit == .done
        )
        #expect(try keys.providerKeys() == providers && keys.deviceKeys() == devices)
        #expect(try run(["doctor"], in: store, at: ages).output.contains("last changed at \(start), in the future"))
        let forced = try run(["key", "rotate", "--kind", "provider", "--clock-is-right"], in: store, at: ages)
        #expect(forced.exit == .done && forced.messages.hasPrefix("pushcrypt: rotated default: signs at epoch "))
        #expect(try keys.providerKeys()[0].signsSince == ages)
    }

    @Test("Long after the last change, a synchronised clock is enough; years after it, a person must say so")
    func longAfter() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("S")
        #expect(try run(["init"], in: store, at: start).exit == .done)
        #expect(try run(["key", "new", "provider", "--topic", "com.example.app"], in: store, at: start).exit == .done)
        let (later, years) = (start.adding(.days(40)), start.adding(.days(500)))
        let refused = try run(["key", "rotate", "--kind", "provider"], in: store, at: later)
        #expect(refused.exit == .usage && refused.messages.contains("40 days after this store was last changed"))
        #expect(
            try run(["key", "rotate", "--kind", "provider"], in: store, at: years, isSynchronised: true).exit == .usage)
        #expect(
            try run(["key", "rotate", "--kind", "provider"], in: store, at: later, isSynchronised: true).exit == .done)
        #expect(
            try run(["key", "rotate", "--kind", "provider", "--clock-is-right"], in: store, at: years).exit == .done)
    }

    @Test("Nothing is sealed by a clock that is far from the store's last change: no phone would open it")
    func sealing() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("S")
        let file = try directory.write(#"{"aps":{"alert":"Hello"}}"#, to: "payload.json")
        let lines = try directory.write(
            #"{"to":"phone","payload":{"aps":{"alert":"Hello"}}}"# + "\n"
                + #"{"to":"nobody","payload":{"aps":{"alert":"Hello"}}}"# + "\n", to: "lines")
        for line in [
            ["init"], ["key", "new", "provider", "--topic", "com.example.app"],
            ["device", "add", "phone", try directory.write("\(DeviceKey().publicKey)", to: "phone.pub")],
        ] { #expect(try run(line, in: store, at: start).exit == .done) }
        for (now, isSynchronised) in [
            (start.adding(.days(40)), false), (start.adding(.days(500)), true), (ages, true),
        ] {
            let one = ["seal", "--to", "phone", file]
            let refused = try run(one, in: store, at: now, isSynchronised: isSynchronised)
            #expect(refused.exit == .usage && refused.output.isEmpty)
            #expect(refused.messages.contains("implausible-clock: the clock shows \(now)"))
            #expect(refused.messages.contains("hint: if the clock is right, --clock-is-right says so"))
            let batch = try run(["seal", "--batch", lines], in: store, at: now, isSynchronised: isSynchronised)
            #expect(batch.output.contains(#"{"error":{"code":"implausible-clock""#) && !batch.output.contains("ENC"))
            #expect(batch.output.contains(#"{"error":{"code":"unknown-device""#) && batch.exit == .failed)
            let forced = try run(one + ["--clock-is-right"], in: store, at: now, isSynchronised: isSynchronised)
            #expect(forced.exit == .done && forced.output.contains("ENCRYPTED_DATA"))
            #expect(try run(["doctor"], in: store, at: now, isSynchronised: isSynchronised).output.contains("problem"))
        }
        let late = start.adding(.days(40))
        #expect(try run(["seal", "--to", "phone", file], in: store, at: late, isSynchronised: true).exit == .done)
        #expect(try run(["seal", "--to", "phone", file], in: store, at: start.adding(.days(28))).exit == .done)
    }

    @Test("A purge while the clock may be ahead says that it waits")
    func purge() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("S")
        for line in [
            ["init"], ["key", "new", "device"], ["key", "rotate", "--kind", "device"],
            ["key", "rotate", "--confirm", "--grace", "5d"],
        ] {
            #expect(try run(line, in: store, at: start).exit == .done)
        }
        let late = start.adding(.days(20))
        let waiting = try run(["key", "rotate", "--purge"], in: store, at: late)
        #expect(waiting.exit == .done && waiting.messages.contains("--clock-is-right says so"))
        let purged = try run(["key", "rotate", "--purge", "--clock-is-right"], in: store, at: late)
        #expect(purged.exit == .done && purged.messages.contains("hint: ending "))
        #expect(try SQLiteKeyStore.open(in: store).deviceKeys().count == 1)
    }

    @Test("Two cron jobs at once rotate once", arguments: ["provider", "device"])
    func twoAtOnce(kind: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("S")
        let made = Console.standard.timestamp
        let store = try SQLiteKeyStore.create(in: path, passphrase: nil, at: made)
        _ = try store.generateProviderKey(topic: Topic("com.example.app"), at: made)
        _ = try store.generateDeviceKey(at: made)
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
            // What a request lists is what was replaced: epoch 0, once.
            #expect(try store.requestCertificate(at: Console.standard.timestamp).request.past.map(\.epoch) == [0])
        } else {
            #expect(try store.deviceKeys().map(\.generation) == [1, 2])
        }
    }

    @Test("The system is asked whether it keeps its clock")
    func system() {
        // Whatever it says here, the kernel's time is the one that everything else goes by.
        let seconds = SystemEnvironment.synchronisedSeconds()
        #expect(SystemEnvironment.isClockSynchronised() == (seconds != nil))
        if let seconds {
            #expect(abs(Int64(seconds) - Int64(SystemEnvironment.milliseconds() / 1000)) <= 5)
        }
        #expect(!SystemEnvironment.isSynchronised(seconds: 1_795_182_400, milliseconds: 946_684_800_000))
        #expect(SystemEnvironment.isSynchronised(seconds: 1_795_182_400, milliseconds: 1_795_182_401_500))
        #expect(!SystemEnvironment.isSynchronised(seconds: nil, milliseconds: 1_795_182_401_500))
    }
}

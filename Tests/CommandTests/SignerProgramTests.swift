import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// `pushcrypt seal --signer` as a process, with a signer in Python.
@Suite(.serialized, .enabled(if: PythonSigner.python != nil, "python3 has no cryptography: make setup"))
struct SignerProgramTests {
    private let directory: TemporaryDirectory
    private let device = DeviceKey()

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ arguments: [String], input: String) throws -> (exit: Int32, lines: [String], messages: String) {
        let streams = try TemporaryDirectory()
        let process = Process()
        process.executableURL = try builtProgram()
        // On a slow machine a signer is silent for long.
        process.arguments = arguments + (arguments.contains("--signer") ? ["--signer-timeout", "10m"] : [])
        process.environment = programEnvironment(["HOME": directory.path])
        process.standardInput = try FileHandle(forReadingFrom: URL(filePath: streams.write(input, to: "in")))
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: streams.write("", to: "out")))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: streams.write("", to: "err")))
        try process.run()
        process.waitUntilExit()
        let lines = try streams.read("out").split(separator: "\n").map(String.init)
        return (process.terminationStatus, lines, try streams.read("err"))
    }

    private func seal(
        _ signer: PythonSigner, lines: Int, _ options: String...
    ) throws -> (exit: Int32, lines: [String], messages: String) {
        let input = (0..<lines).map {
            #"{"to":"\#(device.publicKey)","payload":{"aps":{"alert":"m\#($0)"}},"n":\#($0)}"# + "\n"
        }
        let arguments = ["seal", "--batch", "--topic", "com.example.app", "--signer", "unix:" + signer.path]
        return try run(arguments + options, input: input.joined())
    }

    /// The public key of the seed that the signer has.
    private var sender: ProviderPublicKey {
        get throws {
            let seed = ContiguousArray<UInt8>(0..<32)
            return try ProviderKey(seed: seed.span).publicKey
        }
    }

    @Test("What a signer elsewhere has signed opens at a phone that trusts its key")
    func opens() throws {
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let sealed = try seal(signer, lines: 300, "--signer-key", "\(sender)")
        #expect(sealed.exit == 0)
        let key = try directory.write(device.text, to: "phone.key")
        let opened = try run(
            [
                "open", "--batch", "--json", "--device-key-file", key, "--sender", "\(sender)", "--topic",
                "com.example.app",
            ], input: sealed.lines.joined(separator: "\n"))
        #expect(opened.exit == 0)
        #expect(opened.lines.count == 300)
        for (number, line) in opened.lines.enumerated() {
            #expect(line.contains(#""body":"m\#(number)""#) && line.contains(#""n":\#(number)"#))
        }
    }

    @Test("A wrong signature is an error of its line alone")
    func wrong() throws {
        // One signature goes into the secret of the sealers' own.
        let signer = try PythonSigner(in: directory, "--fault", "wrong", "--after", "6")
        defer { signer.stop() }
        let sealed = try seal(signer, lines: 10, "--jobs", "1")
        #expect(sealed.exit == 1)
        #expect(sealed.lines.count == 10)
        #expect(sealed.lines[..<5].allSatisfy { $0.contains("ENCRYPTED_DATA") })
        #expect(sealed.lines[5...].allSatisfy { $0.contains(#"{"error":{"code":"wrong-signature""#) })
        #expect(sealed.lines[9].contains(#""line":10"#) && sealed.lines[9].contains(#""n":9"#))
    }

    @Test("A signer that goes away is reported in the lines it has left, and the program ends")
    func gone() throws {
        let signer = try PythonSigner(in: directory, "--fault", "gone", "--after", "20")
        defer { signer.stop() }
        let sealed = try seal(signer, lines: 1000, "--jobs", "1")
        #expect(sealed.exit == 1)
        #expect(sealed.lines.count == 1000)
        #expect(sealed.lines.last?.contains("signer-unavailable") == true)
    }

    /// The requested signatures, and how many of them were for the hedge key.
    private func record() throws -> (all: Int, seeds: Int) {
        let label = ContiguousArray("pushcrypt/1 hedge seed\0".utf8).hex
        let lines = try directory.read("record").split(separator: "\n")
        return (lines.count, lines.count { $0 == label })
    }

    @Test("The hedge key is requested once, however many threads, apps and placeholders there are")
    func oneSeed() throws {
        let signer = try PythonSigner(in: directory, "--record", directory.file("record"))
        defer { signer.stop() }
        let lines = (0..<400).map {
            #"{"to":"\#(device.publicKey)","payload":{"aps":{"alert":"m"}},"id":"order \#($0 % 2)","placeholder":"title \#($0)","topic":"com.example.app\#($0 % 3)"}"#
                + "\n"
        }
        let sealed = try run(
            ["seal", "--batch", "--emit", "request", "--jobs", "8", "--signer", "unix:" + signer.path],
            input: lines.joined())
        #expect(sealed.exit == 0 && sealed.lines.count == 400)
        #expect(try record() == (401, 1))
        // Two messages to one device, in each of three apps.
        let ids = try sealed.lines.map { line in
            try JSONDocument(parsing: ContiguousArray(line.utf8)).root["collapse_id"]?.string
        }
        #expect(Set(ids).count == 6)
    }

    @Test("It is kept when the store has changed")
    func seedOutlivesTheStore() throws {
        let signer = try PythonSigner(in: directory, "--record", directory.file("record"))
        defer { signer.stop() }
        let now = Console.standard.timestamp
        let store = try SQLiteKeyStore.create(in: directory.file("P"), passphrase: nil, at: now)
        try store.addDevice(DeviceRegistration(publicKey: device.publicKey, createdAt: now), id: "phone1", at: now)
        let program = try RunningProgram([
            "--store", directory.file("P"), "seal", "--batch", "--topic", "com.example.app", "--jobs", "2", "--signer",
            "unix:" + signer.path,
        ])
        for title in ["one", "two", "three", "four"] {
            try store.setSetting(title, named: "title")
            try program.send(#"{"to":"phone1","payload":{"aps":{"alert":"x"}}}"# + "\n")
            #expect(try program.lines(1).first?.contains(#""title":"\#(title)""#) == true)
        }
        try program.endInput()
        #expect(program.end() == 0)
        #expect(try record() == (5, 1))
    }

    @Test("A signer that does not sign at the start ends the command before anything is read")
    func refusesAtTheStart() throws {
        let signer = try PythonSigner(in: directory, "--fault", "refuse")
        defer { signer.stop() }
        let sealed = try seal(signer, lines: 1)
        #expect(sealed.exit == 1 && sealed.lines.isEmpty)
        #expect(sealed.messages.contains("error: signer-refused: "))
    }

    @Test("Which key the signer has is said, unless the caller says which it must be")
    func unnamedKey() throws {
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let warning =
            "pushcrypt: warning: the signer's key, \(try sender), is not checked: add --signer-key with that key\n"
        #expect(try seal(signer, lines: 3).messages == warning)
        #expect(try seal(signer, lines: 3, "--signer-key", "\(sender)").messages == "")
    }

    @Test("Another key than the requested one is found before anything is read")
    func otherKey() throws {
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let sealed = try seal(signer, lines: 1, "--signer-key", "\(ProviderKey().publicKey)")
        #expect(sealed.exit == 64)
        #expect(sealed.lines.isEmpty)
        #expect(sealed.messages.contains("the signer has another key"))
    }

    /// Seals a message with a key file and what it announces, for a phone that trusts the key before; returns how it opens.
    private func openAfter(_ statements: String, _ options: [String], trusted: ProviderPublicKey) throws -> String {
        let sealed = try run(
            ["seal", "--topic", "com.example.app", "--to", "\(device.publicKey)", "--statement", statements] + options,
            input: #"{"aps":{"alert":"after"}}"#)
        #expect(sealed.exit == 0, "\(sealed.messages)")
        let key = try directory.write(device.text, to: "phone.key")
        return try run(
            ["open", "--device-key-file", key, "--sender", "\(trusted)", "--topic", "com.example.app"],
            input: sealed.lines.joined()
        ).lines.joined()
    }

    @Test("A key in a service is replaced by one in a file, and that by another in a service; phones follow")
    func rotation() throws {
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let (address, key) = ("unix:" + signer.path, directory.file("next.key"))
        let made = try run(["keygen", "sender", "-o", key], input: "")
        let next = try ProviderPublicKey(text: try #require(made.lines.first))
        let (first, second) = (directory.file("first"), directory.file("second"))
        let there = try run(
            [
                "rotate", "signer", "--signer", address, "--signer-key", "\(sender)", "--new-sender-key-file", key,
                "--overlap", "5d", "-o", first,
            ], input: "")
        #expect(
            try there.exit == 0 && there.messages.contains("\(next.id) replaces \(sender.id), which verifies until"))
        #expect(try openAfter(first, ["--sender-key-file", key], trusted: sender).contains(#""body":"after""#))

        // To another key of a service, after what was announced before.
        let folder = try TemporaryDirectory()
        let other = try PythonSigner(in: folder, seed: 1)
        defer { other.stop() }
        let back = try run(
            [
                "rotate", "signer", "--sender-key-file", key, "--new-signer", "unix:" + other.path,
                "--new-signer-key", "\(try ProviderKey(seed: ContiguousArray<UInt8>(1...32).span).publicKey)",
                "--statement", first,
            ], input: "")
        #expect(back.exit == 0 && back.lines.count == 2)
        #expect(try back.lines.first.map { $0 + "\n" } == String(contentsOfFile: first, encoding: .utf8))
        _ = try directory.write(back.lines.joined(separator: "\n"), to: "second")
        let last = ["--signer", "unix:" + other.path]
        #expect(try openAfter(second, last, trusted: sender).contains(#""body":"after""#))
        #expect(try openAfter(second, last, trusted: next).contains(#""body":"after""#))
    }

    @Test("A signer's rotation goes to a store's devices, until they report the new key")
    func rotationWithAStore() throws {
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let (key, now) = (directory.file("old.key"), Console.standard.timestamp)
        let old = try ProviderPublicKey(text: try #require(run(["keygen", "sender", "-o", key], input: "").lines.first))
        let rotation = try run(
            [
                "rotate", "signer", "--sender-key-file", key, "--new-signer", "unix:" + signer.path,
                "--new-signer-key", "\(try sender)", "-o", directory.file("st"),
            ], input: "")
        #expect(rotation.exit == 0)
        let store = try SQLiteKeyStore.create(in: directory.file("P"), passphrase: nil, at: now)
        for (id, pinned) in [("behind", old), ("ahead", try sender)] {
            let record = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: now, pinnedProvider: pinned)
            try store.addDevice(record, id: id, at: now)
        }
        let lengths = try ["behind", "ahead"].map { id in
            let sealed = try run(
                [
                    "--store", directory.file("P"), "seal", "--to", id, "--topic", "com.example.app", "--signer",
                    "unix:" + signer.path, "--statement", directory.file("st"),
                ], input: #"{"aps":{"alert":"\#(String(repeating: "x", count: 300))"}}"#)
            #expect(sealed.exit == 0, "\(sealed.messages)")
            return sealed.lines.joined().utf8.count
        }
        // A statement needs the next bucket.
        #expect(lengths[0] > lengths[1] + 181)
    }

    @Test("Nothing is printed when a signer refuses, or when the rotations before lead elsewhere")
    func refusedRotation() throws {
        let signer = try PythonSigner(in: directory, "--fault", "refuse")
        defer { signer.stop() }
        let key = directory.file("next.key")
        _ = try run(["keygen", "sender", "-o", key], input: "")
        let words = ["rotate", "signer", "--signer", "unix:" + signer.path]
        let refused = try run(words + ["--new-sender-key-file", key], input: "")
        #expect(refused.exit == 1 && refused.lines.isEmpty && refused.messages.contains("error: signer-refused: "))
        #expect(try run(words, input: "").exit == 64)
        let timeout = try run(
            ["rotate", "signer", "--sender-key-file", key, "--new-sender-key-file", key, "--signer-timeout", "1s"],
            input: "")
        #expect(timeout.exit == 64 && timeout.messages.contains("--signer-timeout goes with"))
        // A false signer would get the phones.
        let unchecked = try run(
            ["rotate", "signer", "--sender-key-file", key, "--new-signer", "unix:" + signer.path], input: "")
        #expect(unchecked.exit == 64 && unchecked.lines.isEmpty && unchecked.messages.contains("--new-signer-key"))
        let same = try run(["rotate", "signer", "--sender-key-file", key, "--new-sender-key-file", key], input: "")
        #expect(same.exit == 65 && same.messages.contains("error: superseded-new-key: "))
        let foreign = AnnouncedStatements.line(
            try RotationStatement(from: ProviderKey(), to: ProviderKey(), at: Console.standard.timestamp),
            beginningWith: ProviderKey().publicKey)
        let file = try directory.write(foreign, to: "statements")
        let elsewhere = try run(words + ["--new-sender-key-file", key, "--statement", file], input: "")
        #expect(
            elsewhere.exit == 64 && elsewhere.lines.isEmpty && elsewhere.messages.contains("'rotate signer' writes it"))
    }

    @Test("Rotations are announced for their time, no more than four, and not before the last one")
    func announcedRotations() throws {
        let keys = (0..<6).map { _ in ProviderKey() }
        let files = try keys.enumerated().map { try directory.write($1.text, to: "\($0).key") }
        let now = Console.standard.timestamp
        func rotate(_ ages: [Double], _ options: String...) throws -> (exit: Int32, lines: [String], messages: String) {
            let lines = try ages.enumerated().map { place, age in
                AnnouncedStatements.line(
                    try RotationStatement(
                        from: keys[place], to: keys[place + 1],
                        at: Timestamp(milliseconds: UInt64(Double(now.milliseconds) - age * 86_400_000))),
                    beginningWith: keys[place].publicKey)
            }
            let file = try directory.write(lines.joined(), to: "statements")
            return try run(
                [
                    "rotate", "signer", "--statement", file, "--sender-key-file", files[ages.count],
                    "--new-sender-key-file", files[ages.count + 1],
                ] + options, input: "")
        }
        #expect(try rotate([50, 40, 30]).lines.count == 4)
        #expect(try rotate([70, 50, 30]).lines.count == 3)
        #expect(try rotate([50, 40, 30], "--announce", "35d").lines.count == 2)
        let line = AnnouncedStatements.line(
            try RotationStatement(from: keys[0], to: keys[1], at: now), beginningWith: keys[0].publicKey)
        let full = try rotate([50, 40, 30, 20])
        #expect(full.exit == 64 && full.lines.isEmpty && full.messages.contains("error: too-many-announcements: "))
        let back = try run(
            [
                "rotate", "signer", "--statement", directory.write(line, to: "one"), "--sender-key-file", files[1],
                "--new-sender-key-file", files[0],
            ], input: "")
        #expect(back.exit == 65 && back.lines.isEmpty && back.messages.contains("error: superseded-new-key: "))
        let late = try rotate([50, -1])
        #expect(late.exit == 64 && late.lines.isEmpty && late.messages.contains("but the clock shows"))
    }
}

extension ProviderKey {
    fileprivate var text: String { withText { text in String(decoding: text.bytesArray, as: UTF8.self) } }
}

extension DeviceKey {
    fileprivate var text: String { withText { text in String(decoding: text.bytesArray, as: UTF8.self) } }
}

extension Span<UInt8> {
    fileprivate var bytesArray: [UInt8] { indices.map { self[$0] } }
}

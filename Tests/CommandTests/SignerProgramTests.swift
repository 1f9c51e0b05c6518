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
        let sealed = try seal(signer, lines: 300, "--provider", "\(sender)")
        #expect(sealed.exit == 0)
        let key = try directory.write(device.text, to: "phone.key")
        let opened = try run(
            [
                "open", "--batch", "--json", "--device-key-file", key, "--provider", "\(sender)", "--topic",
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
            try store.setSetting(title, named: "placeholder-title")
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
            "pushcrypt: warning: the signer's key, \(try sender), is not checked: add --provider with that key\n"
        #expect(try seal(signer, lines: 3).messages == warning)
        #expect(try seal(signer, lines: 3, "--provider", "\(sender)").messages == "")
    }

    @Test("Another key than the requested one is found before anything is read")
    func otherKey() throws {
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let sealed = try seal(signer, lines: 1, "--provider", "\(ProviderKey().publicKey)")
        #expect(sealed.exit == 64)
        #expect(sealed.lines.isEmpty)
        #expect(sealed.messages.contains("the signer has another key"))
    }

    // MARK: Certificates

    private static let topic = "com.example.app"

    /// The signing key that the signer has.
    private var signingKey: SigningKey {
        get throws {
            let seed = ContiguousArray<UInt8>(0..<32)
            return try SigningKey(seed: seed.span)
        }
    }

    private func certificate(of key: SigningKey, by provider: ProviderKey, for topic: String = topic) throws -> String {
        let topic = try Topic(topic)
        let plan = try CertificatePlan(offlineAt: Console.standard.timestamp)
        let certificate = try UnsignedCertificate(plan, for: key.publicKey, provider: provider.publicKey, topic: topic)
            .signed(by: provider)
        return try directory.write(
            certificate.description + "\n", to: "certificate.\(certificate.description.suffix(8))")
    }

    @Test("What a signing key elsewhere has signed opens at a phone that trusts the provider key of its certificate")
    func certifiedSigner() throws {
        let provider = ProviderKey()
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let sealed = try seal(
            signer, lines: 3, "--provider", "\(provider.publicKey)", "--certificate",
            certificate(of: signingKey, by: provider))
        #expect(sealed.exit == 0 && sealed.lines.count == 3 && sealed.messages == "")
        let key = try directory.write(device.text, to: "phone.key")
        let arguments = ["open", "--batch", "--device-key-file", key, "--topic", Self.topic, "--provider"]
        let input = sealed.lines.joined(separator: "\n")
        let opened = try run(arguments + ["\(provider.publicKey)"], input: input)
        #expect(opened.exit == 0 && opened.lines.allSatisfy { $0.contains(#""outcome":"opened""#) })
        // The signing key itself is no provider key.
        #expect(try run(arguments + ["\(try sender)"], input: input).exit == 65)
    }

    @Test("A certificate of another key, of another provider or for another app is refused before anything is read")
    func otherCertificate() throws {
        let provider = ProviderKey()
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let words = ["--provider", "\(provider.publicKey)", "--certificate"]
        for (file, code) in [
            (try certificate(of: SigningKey(), by: provider), "wrong-certificate"),
            (try certificate(of: signingKey, by: ProviderKey()), "bad-certificate-signature"),
            (try certificate(of: signingKey, by: provider, for: "com.example.other"), "bad-certificate-signature"),
        ] {
            let sealed = try seal(signer, lines: 1, words[0], words[1], words[2], file)
            #expect(sealed.exit == 65 && sealed.lines.isEmpty)
            #expect(sealed.messages.contains("error: --certificate: \(code): "), "\(sealed.messages)")
        }
    }

    @Test("The signer of a provider key certifies, and one of messages does not")
    func providerSigner() throws {
        let seed = ContiguousArray<UInt8>(0..<32)
        let now = Console.standard.timestamp
        let store = try SQLiteKeyStore.create(in: directory.file("P"), passphrase: nil, at: now)
        let first = try store.addOfflineProviderKey(
            ProviderKey(seed: seed.span), topic: Topic(Self.topic), at: now.subtracting(milliseconds: 5000))
        let rotate = ["--store", directory.file("P"), "key", "rotate", "--provider-signer"]

        let sealing = try PythonSigner(in: directory)
        let refused = try run(rotate + ["unix:" + sealing.path], input: "")
        sealing.stop()
        #expect(refused.exit == 1 && refused.messages.contains("error: signer-refused: "))
        #expect(try store.providerKey().certificate == first.certificate)

        let certifying = try PythonSigner(in: directory, "--certificates")
        defer { certifying.stop() }
        let rotated = try run(rotate + ["unix:" + certifying.path], input: "")
        #expect(rotated.exit == 0, "\(rotated.messages)")
        #expect(try store.providerKey().epoch > first.epoch)
        #expect(try seal(certifying, lines: 1).messages.contains("error: signer-refused: "))
    }

    @Test("A signer that has another key than the store's provider key is not asked")
    func otherProviderSigner() throws {
        let now = Console.standard.timestamp
        let store = try SQLiteKeyStore.create(in: directory.file("P"), passphrase: nil, at: now)
        _ = try store.addOfflineProviderKey(ProviderKey(), topic: Topic(Self.topic), at: now)
        let signer = try PythonSigner(in: directory, "--certificates", "--record", directory.file("record"))
        defer { signer.stop() }
        let words = ["--store", directory.file("P"), "key", "rotate", "--provider-signer", "unix:" + signer.path]
        let rotated = try run(words, input: "")
        #expect(rotated.exit == 64 && rotated.messages.contains("the signer has another key"))
        #expect(!FileManager.default.fileExists(atPath: directory.file("record")))
    }

    @Test("A signer signs messages and the hedge seed, for its key, and nothing else")
    func list() throws {
        let signer = try PythonSigner(in: directory)
        defer { signer.stop() }
        let socket = try SocketSigner(path: signer.path, threads: 1, timeout: 600_000)
        let own = socket.publicKey
        #expect(try socket.sign([messageToSign(by: own)]).count == 1)
        #expect(try socket.sign([ContiguousArray("pushcrypt/1 hedge seed\0".utf8)]).count == 1)
        let others: [ContiguousArray<UInt8>] = [
            ContiguousArray("pushcrypt/1 hedge seed\0x".utf8), ContiguousArray("pushcrypt/1 hedge\0".utf8),
            ContiguousArray("a text".utf8), messageToSign(by: own) + [0], messageToSign(by: own, topicLength: 0),
            ContiguousArray(messageToSign(by: own).dropLast()),
            messageToSign(by: ProviderKey().publicKey.bytes),
            ContiguousArray("pushcrypt/2 signature\0".utf8) + messageToSign(by: own).dropFirst(22),
        ]
        for other in others {
            #expect(throws: SigningError(.signerRefused, "")) { try socket.sign([other]) }
        }
        let certificate =
            ContiguousArray("pushcrypt/1 certificate\0".utf8) + own + [0, 1, 97]
            + ContiguousArray<UInt8>(repeating: 1, count: 57)
        #expect(throws: SigningError(.signerRefused, "")) { try socket.sign(certificate: certificate) }
        #expect(throws: SigningError(.signerRefused, "")) { try socket.sign([certificate]) }
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

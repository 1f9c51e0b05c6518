import Foundation
import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// `Tests/Checks/Signer/signer.py`, running until the test lets go of it.
final class PythonSigner {
    struct NotStarted: Error {}

    let path: String
    private let process: Process

    /// The Python that has the package `cryptography`; nil where none has.
    static let python: String? = {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init) ?? []
        return (folders + ["/usr/bin"]).map { $0 + "/python3" }.first { python in
            guard FileManager.default.isExecutableFile(atPath: python) else { return false }
            let process = Process()
            process.executableURL = URL(filePath: python)
            process.arguments = ["-c", "import cryptography"]
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }()

    /// Starts a signer with the seed 00 01 … 1f, or `seed` more in each byte, at a socket in the directory, and waits until it listens.
    convenience init(in directory: TemporaryDirectory, seed: UInt8 = 0, _ options: String...) throws {
        try self.init(in: directory, seed: seed, options)
    }

    init(in directory: TemporaryDirectory, seed first: UInt8 = 0, _ options: [String]) throws {
        let seed = directory.file("seed")
        try Data(first..<first + 32).write(to: URL(filePath: seed))
        path = directory.file("signer.sock")
        process = Process()
        process.executableURL = URL(filePath: try #require(Self.python))
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Checks/Signer/signer.py")
        process.arguments = [script.path, path, seed] + options
        try? FileManager.default.removeItem(atPath: path)
        try process.run()
        // On a machine that has never run it, and that runs all other tests at the same time, Python takes long to start.
        for _ in 0..<12_000 where process.isRunning {
            if isListening { return }
            usleep(10_000)
        }
        throw NotStarted()
    }

    /// The socket's file is there a moment before anybody listens.
    private var isListening: Bool {
        do {
            _ = try UnixSocket(connectingTo: path, deadline: SystemEnvironment.uptime())
            return true
        } catch {
            return false
        }
    }

    func stop() {
        // The threads of tests block other signals, and so does what they start.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit { if process.isRunning { stop() } }
}

extension PythonSigner {
    /// The key of the seed 00 01 … 1f.
    static let publicKey: ContiguousArray<UInt8> = {
        let seed = ContiguousArray<UInt8>(0..<32)
        return (try? ProviderKey(seed: seed.span).publicKey.bytes) ?? []
    }()
}

/// A message of the form that a signer signs, one of many. (`Docs/SignerProtocol.md`)
func messageToSign(
    _ number: Int = 0, by key: ContiguousArray<UInt8>, topicLength: Int = 15
) -> ContiguousArray<UInt8> {
    ContiguousArray("pushcrypt/1 signature\0".utf8) + ContiguousArray(repeating: UInt8(number), count: 101) + key
        + [0, 0, 0, 1, 0, UInt8(topicLength)] + ContiguousArray(repeating: 97, count: topicLength)
        + ContiguousArray(repeating: 7, count: 32)
}

import Foundation
import Pushcrypt
import Synchronization
import Testing

@testable import PushcryptCommand

/// The signer in another process, against one in Python with the seed 00 01 … 1f.
@Suite(.serialized, .enabled(if: PythonSigner.python != nil, "python3 has no cryptography: make setup"))
struct SocketSignerTests {
    private static let messages = (0..<100).map { messageToSign($0, by: PythonSigner.publicKey) }

    /// The signature by this process's key of the same seed.
    private static func expected() throws -> [ContiguousArray<UInt8>] {
        let seed = ContiguousArray<UInt8>(0..<32)
        let key = try ProviderKey(seed: seed.span)
        return messages.map { key.signature(of: $0.span) }
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func sign(_ options: String..., timeout: Int = 60_000) throws -> [ContiguousArray<UInt8>] {
        let signer = try PythonSigner(in: directory, options)
        defer { signer.stop() }
        return try SocketSigner(path: signer.path, threads: 4, timeout: timeout).sign(Self.messages)
    }

    @Test("Signatures come back in the order of the messages, and are those of the key")
    func right() throws {
        #expect(try sign() == Self.expected())
    }

    @Test("Many signatures are requested at once: a signer that waits for 50 requests answers them")
    func together() throws {
        #expect(try sign("--together", "50") == Self.expected())
    }

    @Test("A wrong signature is passed on as it came: the sealer checks it")
    func wrong() throws {
        let signatures = try sign("--fault", "wrong", "--after", "50")
        let expected = try Self.expected()
        #expect(signatures[..<50] == expected[..<50])
        #expect(signatures[50] != expected[50])
    }

    @Test(
        "A signer that fails is told by its code, and nothing is signed",
        arguments: [
            ("refuse", SigningError.Code.signerRefused), ("silent", .signerTimedOut), ("truncate", .signerUnavailable),
            ("gone", .signerUnavailable), ("garbage", .signerUnavailable), ("twice", .signerUnavailable),
            ("stranger", .signerUnavailable),
        ])
    func fails(fault: String, code: SigningError.Code) throws {
        do {
            _ = try sign("--fault", fault, "--after", "50", timeout: fault == "silent" ? 500 : 60_000)
            Issue.record("it signed")
        } catch let error as SigningError {
            #expect(error.code == code)
            #expect(!error.description.contains("message 5"))
        }
    }

    /// 100 signatures, one every 200 ms, would take 20 s, and one every 50 ms takes 5 s, unless the machine is slow: then
    /// ten times that is tried.
    @Test(
        "A signer that gives a little now and then is waited for three times as long as one that is silent, and no longer"
    )
    func trickle() throws {
        // Later all would be signed.
        #expect(throws: SigningError(.signerTimedOut, "")) { try sign("--every", "200", timeout: 500) }
        // One after the other is no reason to give up.
        let isSigned = try [1, 10].contains { scale in
            do {
                return try sign("--every", "\(50 * scale)", timeout: 4500 * scale) == Self.expected()
            } catch let error as SigningError where error.code == .signerTimedOut {
                return false
            }
        }
        #expect(isSigned)
    }

    @Test("The reason that a signer gives is shown")
    func reason() throws {
        do {
            _ = try sign("--fault", "refuse", "--after", "0")
            Issue.record("it signed")
        } catch let error as SigningError {
            #expect(error.description.contains("'the key is disabled'"))
        }
    }

    @Test("A signer that was restarted is found again, and many threads ask at once")
    func startedAnew() throws {
        let first = try PythonSigner(in: directory)
        let signer = try SocketSigner(path: first.path, threads: 4, timeout: 60_000)
        #expect(try signer.sign(Self.messages) == Self.expected())
        first.stop()
        let second = try PythonSigner(in: directory)
        defer { second.stop() }
        let expected = try Self.expected()
        let wrong = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let signatures = try? signer.sign(Self.messages)
            if signatures != expected { wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test(
        "Where nobody listens, or no socket can be, the signer is unavailable", arguments: ["missing", "seed", "long"])
    func unavailable(name: String) throws {
        try directory.write("no socket", to: "seed")
        let path = name == "long" ? directory.file(String(repeating: "x", count: 200)) : directory.file(name)
        #expect(throws: SigningError(.signerUnavailable, "")) {
            try SocketSigner(path: path, threads: 1, timeout: 500)
        }
    }
}

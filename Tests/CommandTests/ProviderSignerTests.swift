import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A program that has the provider key, and what it can do wrong: nothing is stored that the key has not signed.
@Suite struct ProviderSignerTests {
    private let directory: TemporaryDirectory
    private let key = ProviderKey()

    init() throws { directory = try TemporaryDirectory() }

    /// A shell script as the program.
    private func program(_ lines: String, mode: Int = 0o700) throws -> String {
        try directory.write("#!/bin/sh\ncd \(directory.path)\n\(lines)\n", to: "signer", mode: mode)
    }

    /// A program that signs with OpenSSL.
    private func openssl(_ key: ProviderKey) throws -> String {
        let seed = key.withSeed { seed in seed.indices.map { seed[$0] } }
        // PKCS #8 of RFC 8410, up to the seed.
        let form: [UInt8] = [
            0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
        ]
        let text = Data(form + seed).base64EncodedString()
        try directory.write("-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n", to: "key.pem")
        return try program("cat >bytes; exec openssl pkeyutl -sign -rawin -inkey key.pem -in bytes")
    }

    private func unsigned() throws -> UnsignedCertificate {
        try UnsignedCertificate(
            CertificatePlan(offlineAt: Console.standard.timestamp), for: SigningKey().publicKey,
            provider: key.publicKey, topic: Topic("com.example.app"))
    }

    @Test("A program that signs right certifies and proves that it has the key")
    func right() throws {
        let signer = ProviderSigner(program: try openssl(key), provider: key.publicKey)
        try signer.prove()
        let unsigned = try unsigned()
        #expect(try signer.sign(unsigned) == unsigned.signed(by: key))
    }

    @Test("A program that has another key proves and certifies nothing")
    func otherKey() throws {
        let signer = ProviderSigner(program: try openssl(ProviderKey()), provider: key.publicKey)
        let attempts: [() throws -> Void] = [{ try signer.prove() }, { _ = try signer.sign(unsigned()) }]
        for sign in attempts {
            let failure = #expect(throws: Failure.self) { try sign() }
            #expect(failure?.exit == .usage)
            #expect(failure?.message.contains("is not the signature of provider key \(key.publicKey)") == true)
        }
    }

    /// Runs the program for a certificate, of which the file `right` has the signature.
    private func failure(_ lines: String, mode: Int = 0o700, timeout: UInt64 = 60_000) throws -> Failure? {
        let unsigned = try unsigned()
        let message = unsigned.message
        try Data(key.signature(of: message.span)).write(to: URL(filePath: directory.file("right")))
        let signer = ProviderSigner(
            program: try program(lines, mode: mode), provider: key.publicKey, timeout: timeout)
        do {
            _ = try signer.sign(unsigned)
            return nil
        } catch {
            return Failure(error)
        }
    }

    @Test("The signature alone is enough, whether the program reads what it signs or not")
    func signature() throws {
        #expect(try failure("cat right") == nil)
        #expect(try failure("cat >/dev/null; cat right; echo note >&2") == nil)
    }

    @Test(
        "What is not a signature of 64 bytes is refused",
        arguments: [
            ("head -c 63 right", "wrote 63 bytes, and a signature has 64"),
            ("cat right; echo", "wrote 65 bytes, and a signature has 64"), ("true", "wrote 0 bytes, and"),
            ("exec cat /dev/zero", "wrote far more than a signature"),
            ("tr '\\000-\\377' '\\001-\\377\\000' <right", "is not the signature of provider key"),
            ("cat right; kill -KILL $$", "was ended by a signal"),
            (
                "cat right; echo 'the token is locked' >&2; echo 'ask Ann' >&2; exit 7",
                "ended with 7: the token is locked; ask Ann"
            ),
        ])
    func wrong(lines: String, text: String) throws {
        let failure = try failure(lines)
        #expect(failure?.message.contains(text) == true, "\(failure?.message ?? "signed")")
    }

    @Test("A program that hangs is killed when its time is up")
    func hangs() throws {
        let failure = try failure("cat right; exec sleep 600", timeout: 200)
        #expect(failure?.exit == .failed && failure?.message.contains("took longer than 200ms") == true)
    }

    @Test("A program that cannot be run is named, and so is the form of the option")
    func absent() throws {
        let failure = try failure("cat right", mode: 0o600)
        #expect(failure?.exit == .usage && failure?.message.contains("permission denied") == true)
        #expect(failure?.hints.first?.contains("without arguments") == true)
        let signer = ProviderSigner(program: directory.file("none") + " --sign", provider: key.publicKey)
        let absent = #expect(throws: Failure.self) { try signer.prove() }
        #expect(absent?.exit == .usage && absent?.message.contains("no such file or directory") == true)
    }
}

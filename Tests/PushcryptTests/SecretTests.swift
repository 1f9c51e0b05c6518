import Testing

@testable import Pushcrypt

// The compiler prefers the second wherever it applies, so these answer for the type itself.
private func isCopyable<T: ~Copyable>(_: T.Type) -> Bool { false }
private func isCopyable<T>(_: T.Type) -> Bool { true }

/// Secrets keep their bytes and cannot be copied.
@Suite struct SecretTests {
    /// `print`, interpolation, `dump` and `Mirror` take only what can be copied: none of these can be printed either.
    @Test func typesThatHoldSecretsCannotBeCopied() {
        #expect(!isCopyable(SecretBytes.self))
        #expect(!isCopyable(Ephemeral.self))
        #expect(!isCopyable(HMACSHA256.self))
        #expect(!isCopyable(SHA256.self))
        #expect(!isCopyable(DHKEM.KeyPair.self))
        #expect(!isCopyable(Encapsulation.self))
        #expect(!isCopyable(HPKEContext.self))
        #expect(isCopyable(Bytes.self))
        #expect(isCopyable(DevicePublicKey.self))
    }

    @Test(arguments: [0, 1, 32, 4095, 4096, 4097])
    func secretHoldsWhatItWasMadeFrom(_ count: Int) {
        let bytes = Bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        let guarded = SecretBytes(copying: bytes.span)
        #expect(guarded.bytes == bytes)
        #expect(guarded.count == count)
        let filled = SecretBytes(count: count) { output in
            for index in 0..<output.count { output[index] = bytes[index] }
        }
        #expect(filled.bytes == bytes)
        let ephemeral = Ephemeral(copying: bytes.span)
        #expect(ephemeral.bytes == bytes)
        #expect(ephemeral.count == count)
    }

    @Test func ephemeralStartsAsZerosAndKeepsWhatIsWritten() {
        var secret = Ephemeral(count: 3)
        #expect(secret.bytes == [0, 0, 0])
        secret.withMutableSpan { $0[1] = 7 }
        #expect(secret.bytes == [0, 7, 0])
    }

    @Test func keysGiveBackWhatTheyWereMadeFrom() throws {
        let bytes = Bytes(1...32)
        #expect(try DeviceKey(scalar: bytes.span).withScalar { Bytes(copying: $0) } == bytes)
        #expect(try ProviderKey(seed: bytes.span).withSeed { Bytes(copying: $0) } == bytes)
        #expect(try SigningKey(seed: bytes.span).withSeed { Bytes(copying: $0) } == bytes)
    }
}

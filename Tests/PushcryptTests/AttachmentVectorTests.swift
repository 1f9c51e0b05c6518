import Testing

@testable import Pushcrypt

/// Sealing files, as `Tests/Data/Vectors/attachments.json` has it.
@Suite struct AttachmentVectorTests {
    typealias Vectors = AttachmentVectors

    @Test(.vectors("attachments.json, seal"), arguments: try Vectors.file().seal)
    func aFileSealsToTheseBytes(_ vector: Vectors.Seal) throws {
        let provider = try ProviderKey(seed: vector.signingSeed.bytes.span)
        let plain = vector.plain.bytes
        #expect(SHA256.digest(plain.span) == vector.plainSHA256.bytes)
        var first = AttachmentSealer.FirstPass()
        first.update(plain.span)
        var sealer = first.sealer(
            EnvelopeSigner(provider), random: Ephemeral(copying: vector.r.bytes.span))
        var sealed = Bytes()
        try sealer.seal(plain.span, into: &sealed)
        let file = try sealer.finish(into: &sealed)
        #expect(file.withKey { Bytes(copying: $0) } == vector.key.bytes)
        #expect(file.size == vector.size)
        #expect(file.sha256 == vector.sha256.bytes)
        #expect(UInt64(sealed.count) == vector.size)
        #expect(SHA256.digest(sealed.span) == vector.sha256.bytes)
        if let expected = vector.sealed { #expect(sealed == expected.bytes) }
    }
}

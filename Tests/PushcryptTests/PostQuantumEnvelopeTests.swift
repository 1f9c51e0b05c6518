import PostQuantum
import Testing

@testable import Pushcrypt

/// Envelopes of suite 2. (`Docs/Format.md`, Envelope, Buckets, O-2.5, O-3.1, O-4.2)
@Suite(.postQuantum) struct PostQuantumEnvelopeTests {
    private let device: DeviceKey
    private let old: DeviceKey
    private let provider: ProviderKey

    init() throws {
        device = try DeviceKey(scalar: Bytes(repeating: 1, count: 32).span, .xwing)
        old = try FormatFixture.device(1)
        provider = try FormatFixture.provider(101)
    }

    private func seal(
        _ payload: String, to key: DevicePublicKey? = nil, type: PushType = .alert, random: UInt8 = 0
    ) throws(SealError) -> SealedPayload {
        var message = Sealer.Message(payload.utf8)
        message.pushType = type
        let random = Bytes(repeating: random, count: 32)
        guard let topic = try? FormatFixture.app else { throw SealError(.invalidRequest, "") }
        return try Sealer(provider: provider, topic: topic).seal(
            message, to: key ?? device.publicKey, at: FormatFixture.now,
            Randomness(messageID: random.span, ephemeral: random.span))
    }

    private func opener(_ keys: [DeviceKey]) throws -> Opener {
        try Opener(topic: FormatFixture.app, deviceKeys: keys, trust: ProviderTrust(pinned: [provider.publicKey]))
    }

    private func code(_ bytes: Bytes, _ keys: [DeviceKey]? = nil) throws -> OpenError.Code? {
        let opener = try opener(keys ?? [device])
        do throws(OpenError) {
            _ = try opener.open(Envelope(text: Base64URL.string(bytes.span)), at: FormatFixture.now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func whatIsSealedOpens() throws {
        let sealed = try seal(alertPayload())
        #expect(sealed.envelope.suite == .xwing && sealed.envelope.bytes[0] == 0x02)
        #expect(sealed.envelope.enc.count == 1120 && sealed.envelope.innerLength == 256)
        let opened = try opener([old, device]).open(sealed.json, at: FormatFixture.now)
        #expect(opened.payload == Bytes(alertPayload().utf8))
        #expect(opened.openedWith == device.publicKey)
    }

    /// The length of the payload, and that of the text. (Size)
    @Test(
        arguments: [
            (157, 1863), (413, 2204), (925, 2887), (1437, 3570), (1438, 3826), (1508, 3826),
        ] as [(Int, Int)])
    func aBucketHoldsThisMuch(_ length: Int, _ characters: Int) throws {
        let sealed = try seal(alertPayload(count: length))
        #expect(sealed.envelope.text.utf8.count == characters)
        #expect(sealed.json.count <= 4096 && sealed.maximumReencodedLength <= 4096)
        #expect(try code(sealed.envelope.bytes) == nil)
    }

    @Test func aLargerPayloadIsRefusedAndSaysWhy() throws {
        #expect(throws: SealError(.payloadTooLarge, "")) { try seal(alertPayload(count: 1509)) }
        _ = try seal(alertPayload(count: 1509), to: old.publicKey)
        #expect(PushType.alert.maximumPayloadLength(.xwing) == 1508)
        #expect(PushType.voip.maximumPayloadLength(.xwing) == 2276)
        #expect(PushType.alert.maximumPayloadLength == 2596)
    }

    @Test(arguments: [(1629, 3826), (1630, 4252), (1949, 4252), (2276, 4850)] as [(Int, Int)])
    func aCallHasRoomForMore(_ length: Int, _ characters: Int) throws {
        let sealed = try seal(alertPayload(count: length), type: .voip)
        #expect(sealed.envelope.text.utf8.count == characters && sealed.json.count <= 5120)
        #expect(try code(sealed.envelope.bytes) == nil)
    }

    @Test func everyByteOfTheEnvelopeCounts() throws {
        let bytes = try seal(alertPayload()).envelope.bytes
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x04
            let expected: OpenError.Code =
                index == 0 ? .unsupportedSuite : index < 5 ? .unknownRecipientKey : .authenticationFailed
            #expect(try code(changed) == expected, "byte \(index)")
        }
    }

    @Test func onlyTheBucketsOfTheSuiteAreLengths() throws {
        let bytes = try seal(alertPayload(count: 1508)).envelope.bytes
        let lengths = Set([256, 512, 1024, 1536, 1728, 2048, 2496].map { 1141 + $0 })
        for length in 1..<3700 {
            let cut = Bytes(bytes.prefix(length)) + Bytes(repeating: 0, count: max(0, length - bytes.count))
            let expected: OpenError.Code? =
                length == bytes.count ? nil : lengths.contains(length) ? .authenticationFailed : .malformedEnvelope
            #expect(try code(cut) == expected, "\(length) bytes")
        }
    }

    // MARK: Downgrade

    /// A key of suite 2 never opens suite 1, whatever an envelope says of its recipient. [O-3.1]
    @Test func aKeyOpensItsSuiteOnly() throws {
        var envelope = try seal(alertPayload(), to: old.publicKey).envelope.bytes
        #expect(try code(envelope, [device]) == .unknownRecipientKey)
        for (index, byte) in Bytes(bigEndian: device.publicKey.id.value).enumerated() { envelope[1 + index] = byte }
        #expect(try code(envelope, [device, old]) == .unknownRecipientKey)

        // The X25519 half of the key alone, as a forger would use it.
        let tail = Bytes(device.publicKey.bytes.suffix(32))
        let half = try DevicePublicKey(bytes: tail.span)
        var forged = try seal(alertPayload(), to: half).envelope.bytes
        for (index, byte) in Bytes(bigEndian: device.publicKey.id.value).enumerated() { forged[1 + index] = byte }
        #expect(try code(forged, [device]) == .unknownRecipientKey)

        var newer = try seal(alertPayload()).envelope.bytes
        for (index, byte) in Bytes(bigEndian: old.publicKey.id.value).enumerated() { newer[1 + index] = byte }
        #expect(try code(newer, [device, old]) == .unknownRecipientKey)
    }

    /// The header is signed and in HPKE's info, so that the suite cannot be changed.
    @Test func theSuiteIsBound() throws {
        var bytes = try seal(alertPayload()).envelope.bytes
        bytes[0] = 0x01
        #expect(try code(bytes, [device, old]) != nil)
    }

    @Test(arguments: smallOrderX25519Points) func aShareOfSmallOrderFails(_ point: Hex) throws {
        var bytes = try seal(alertPayload()).envelope.bytes
        for (index, byte) in point.bytes.enumerated() { bytes[5 + 1088 + index] = byte }
        #expect(try code(bytes) == .authenticationFailed)
    }

    // MARK: Signature and hedge

    /// The signer's input has the same length in both suites, with hashes instead of share and key.
    @Test func aSignerSeesHashes() throws {
        let topic = try FormatFixture.app
        let hash = Bytes(repeating: 7, count: 32)
        let header = Bytes([2, 1, 2, 3, 4])
        let enc = Bytes(repeating: 5, count: 1120)
        let message = signedMessage(
            header: header.span, enc: enc.span, .xwing, recipient: device.publicKey.transcript,
            by: SignedBy(provider: provider.publicKey, signing: hash, epoch: 7), topic: topic, contentHash: hash)
        let key = device.publicKey.bytes
        let hashes = SHA256.digest(enc.span) + SHA256.digest(key.span)
        let expected =
            Bytes("pushcrypt/1 signature".utf8) + [0] + header + hashes + provider.publicKey.bytes + hash + [
                0, 0, 0, 7,
            ]
            + topic.lengthPrefixed + hash
        #expect(message == expected)
        #expect(message.count == 193 + topic.lengthPrefixed.count - 2)
    }

    @Test func theSameRandomBytesEncapsulateOnlyTheSameMessage() throws {
        let first = try seal(alertPayload())
        #expect(try seal(alertPayload()).envelope.bytes == first.envelope.bytes)
        #expect(try seal(alertPayload("Another")).envelope.enc != first.envelope.enc)
        #expect(try seal(alertPayload(), random: 1).envelope.enc != first.envelope.enc)
        let another = try DeviceKey(scalar: Bytes(repeating: 2, count: 32).span, .xwing)
        #expect(try seal(alertPayload(), to: another.publicKey).envelope.enc != first.envelope.enc)
    }

    @Test func aNoteToItselfOpens() throws {
        let note = try SealedNote.seal(
            Bytes([1, 2, 3]).span, to: device.publicKey, label: "test", authenticating: Bytes().span)
        #expect(note.count == 3 + SealedNote.overhead(.xwing))
        #expect(try SealedNote.open(note.span, with: device, label: "test", authenticating: Bytes().span) == [1, 2, 3])
        #expect(throws: SodiumRefusal.self) {
            try SealedNote.open(note.span, with: old, label: "test", authenticating: Bytes().span)
        }
    }
}

extension Bytes {
    fileprivate init(bigEndian value: UInt32) {
        self = []
        append(bigEndian: value)
    }
}

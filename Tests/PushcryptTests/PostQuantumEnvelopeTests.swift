import PostQuantum
import Testing

@testable import Pushcrypt

/// Sealing to suite 2; what does not open is in the kit. (`Docs/Format.md`, Envelope, Buckets)
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
        _ payload: String, to key: DevicePublicKey? = nil, type: PushType = .alert
    ) throws(SealError) -> SealedPayload {
        var message = Sealer.Message(payload.utf8)
        message.pushType = type
        guard let topic = try? FormatFixture.app else { throw SealError(.invalidRequest, "") }
        return try Sealer(provider: provider, topic: topic).seal(
            message, to: key ?? device.publicKey, at: FormatFixture.now)
    }

    private func opener(_ keys: [DeviceKey]) throws -> Opener {
        try Opener(topic: FormatFixture.app, deviceKeys: keys, trust: ProviderTrust(pinned: [provider.publicKey]))
    }

    private func code(_ bytes: Bytes) throws -> OpenError.Code? {
        let opener = try opener([device])
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

import FuzzHarness

@testable import Pushcrypt

/// The inner plaintext: encrypted and signed by the harness, rightly or not, it is opened exactly when the format says so, and is
/// refused with the code that the format gives.
///
/// Input: bucket and signer, clock and what is wrong with the signature, which statements come before the payload; then the
/// content from its type on.
struct InnerTarget: FuzzTarget {
    static let name = "inner"

    private static let clocks: [Int64] = [0, 1, 86_400_000, -86_400_000, 2_592_000_000, 5_184_000_001, -1, 3_000_000_000]

    private let channel = SealedChannel()
    private let scene = RotationScene()

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let (first, second, third) = (choices.byte(), choices.byte(), choices.byte())
        let now = Timestamp(
            milliseconds: UInt64(Int64(KnownKeys.now.milliseconds) + Self.clocks[Int(second & 7)]))
        let count = Int(third & 7) <= RotationStatement.maximumPerMessage ? Int(third & 7) : 0
        let statements = (0..<count).map { _ in scene.statements[choices.number(below: scene.statements.count)] }

        let signer = scene.senders[Int(first >> 4) % scene.senders.count]
        var inner = content(&choices, statements, isFitted: first & 8 != 0, bucket: Bucket.all[Int(first & 7)])
        let isSigned = sign(&inner, signer, fault: second >> 3 & 7)
        if second & 0x40 != 0 { inner[choices.number(below: KeyID.length)] ^= 1 }

        let expected = InnerModel(inner: inner, signer: isSigned ? signer.publicKey : nil, trust: scene.trust, now: now)
        let opener = Opener(topic: KnownKeys.topic, deviceKeys: [KnownKeys.device], trust: scene.trust)
        do throws(OpenError) {
            let opened = try opener.open(channel.envelope(of: inner), at: now)
            require(expected.code == nil, "inner: refused with \(expected.code?.description ?? "")")
            require(opened.sender == signer.publicKey, "inner: the sender is who signed")
            require(expected.written(opened) == inner, "inner: what is opened is written with the same bytes")
        } catch {
            require(expected.code == error.code, "inner: \(expected.code?.description ?? "opened"), not \(error.code)")
        }
    }

    /// Lays out what is sealed: the content as the input has it, or fitted with times and a length that are right.
    private func content(
        _ choices: inout Choices, _ statements: [RotationStatement], isFitted: Bool, bucket: Int
    ) -> Bytes {
        var content: Bytes = [choices.byte()]
        if isFitted {
            content.append(contentsOf: repeatElement(0x77, count: MessageID.length))
            content.append(bigEndian: KnownKeys.now.milliseconds)
            content.append(bigEndian: UInt32(Freshness.maximumTimeToLive))
        } else {
            content.append(contentsOf: choices.bytes(MessageID.length + 12))
        }
        let length = choices.integer(UInt16.self)
        var body = Bytes()
        if !statements.isEmpty {
            body.append(UInt8(truncatingIfNeeded: statements.count))
            for statement in statements { body.append(contentsOf: statement.bytes) }
        }
        body.append(contentsOf: choices.rest())
        content.append(bigEndian: isFitted ? UInt16(truncatingIfNeeded: body.count) : length)
        var inner = Bytes(repeating: 0, count: InnerPlaintext.signed) + content + body
        inner.removeLast(max(0, inner.count - bucket))
        inner.append(contentsOf: repeatElement(0, count: bucket - inner.count))
        return inner
    }

    /// Signs, and tells whether rightly.
    private func sign(_ inner: inout Bytes, _ signer: SenderKey, fault: UInt8) -> Bool {
        let key = signer.publicKey
        let message =
            switch fault {
            case 1: channel.toSign(inner, by: key, topic: KnownKeys.otherTopic)
            case 2: channel.toSign(inner, by: key, recipient: KnownKeys.otherDevice.publicKey)
            case 3: channel.toSign(inner, by: scene.senders[0].publicKey == key ? scene.senders[1].publicKey : scene.senders[0].publicKey)
            default: channel.toSign(inner, by: key)
            }
        var prefix = Bytes()
        prefix.append(bigEndian: key.id.value)
        prefix.append(contentsOf: signer.signature(of: message.span))
        if fault == 4 { prefix[KeyID.length] ^= 1 }
        if fault == 5 { prefix[InnerPlaintext.signature.upperBound - 1] ^= 0x80 }
        inner.replaceSubrange(0..<prefix.count, with: prefix)
        return !(1...5).contains(fault)
    }
}

import PushcryptKeyStore
import PushcryptReceiver

@testable import Pushcrypt

/// The inner plaintext: encrypted and signed by the harness, rightly or not, it is opened exactly when the format says so, is
/// refused with the code that the format gives, and what is refused has no effect.
///
/// Input: bucket and signer, clock and what is wrong with the signature, which statements come before the payload, who opens and the
/// suite; then the content from its type on.
struct InnerTarget: FuzzTarget {
    static let name = "inner"

    private static let clocks: [Int64] = [
        0, 1, 86_400_000, -86_400_000, 2_592_000_000, 5_184_000_001, -1, 3_000_000_000,
    ]

    private let scene = RotationScene()
    private let phones: [Phone]

    /// A device with one key, and the way to it.
    private struct Phone {
        let suite: CipherSuite
        let channel: SealedChannel
        let opener: Opener
        let recording: RecordingPhone
        let receiver: NotificationReceiver

        init(_ key: DeviceKey, _ trust: ProviderTrust) {
            suite = key.publicKey.suite
            channel = SealedChannel(to: key.publicKey)
            opener = Opener(topic: KnownKeys.topic, deviceKeys: [key], trust: trust)
            recording = RecordingPhone(key, topic: KnownKeys.topic, trust: trust)
            // Without a replay guard, so that every copy of a message is new.
            let replay = ReplayFile.open(in: "/nonexistent", at: KnownKeys.now)
            receiver = NotificationReceiver(keys: recording, effects: recording, replay: replay, topic: nil)
        }
    }

    init() {
        let trust = scene.trust
        phones = [KnownKeys.device, KnownKeys.postQuantum].compactMap { $0.map { Phone($0, trust) } }
    }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let (first, second, third) = (choices.byte(), choices.byte(), choices.byte())
        let now = Timestamp(
            milliseconds: UInt64(Int64(KnownKeys.now.milliseconds) + Self.clocks[Int(second & 7)]))
        let count = Int(third & 7) <= RotationStatement.maximumPerMessage ? Int(third & 7) : 0
        let statements = (0..<count).map { _ in scene.statements[choices.number(below: scene.statements.count)] }

        let phone = phones[Int(third >> 4 & 1) % phones.count]
        let signer = scene.senders[Int(first >> 4) % scene.senders.count]
        let buckets = Bucket.all(phone.suite)
        var inner = content(
            &choices, statements, isFitted: first & 8 != 0, bucket: buckets[Int(first & 7) % buckets.count])
        let isSigned = sign(&inner, signer, phone.channel, fault: second >> 3 & 7)
        if second & 0x40 != 0 { inner[choices.number(below: KeyID.length)] ^= 1 }

        let expected = InnerModel(inner: inner, signer: isSigned ? signer.publicKey : nil, trust: scene.trust, now: now)
        let envelope = phone.channel.envelope(of: inner)
        switch third & 8 == 0 ? open(envelope, phone, at: now) : receive(envelope, phone, at: now) {
        case .opened(let opened):
            require(expected.code == nil, "inner: refused with \(expected.code?.description ?? "")")
            require(opened.sender == signer.publicKey, "inner: the sender is who signed")
            require(expected.written(opened) == inner, "inner: what is opened is written with the same bytes")
        case .refused(let code):
            require(expected.code?.description == code, "inner: \(expected.code?.description ?? "opened"), not \(code)")
        }
    }

    // MARK: Opening

    private enum Outcome {
        case opened(OpenedNotification)
        case refused(String)
    }

    private func open(_ envelope: Envelope, _ phone: Phone, at now: Timestamp) -> Outcome {
        do throws(OpenError) {
            return .opened(try phone.opener.open(envelope, at: now))
        } catch {
            return .refused(error.code.description)
        }
    }

    /// Opens as a phone does, which lets a message that has opened take effect.
    private func receive(_ envelope: Envelope, _ phone: Phone, at now: Timestamp) -> Outcome {
        phone.recording.settled = nil
        let push = Bytes(#"{"ENCRYPTED_DATA":"\#(envelope.text)"}"#.utf8)
        let delivery = phone.receiver.receive(push, requestID: nil, at: now).delivery
        switch delivery.outcome {
        case .opened, .dropped:
            guard let opened = delivery.opened else { fail("inner: an opened push has its notification") }
            require(phone.recording.settled == opened.statements, "inner: what a message has brought takes effect")
            return .opened(opened)
        case .fallback(let reason):
            require(phone.recording.settled == nil, "inner: what was refused has no effect")
            return .refused(reason.code)
        case .openedWithoutAttachment, .passed, .suppressed, .withdrawn:
            fail("inner: a sealed push is opened or refused")
        }
    }

    // MARK: Sealing

    /// Lays out what is sealed: the content as the input has it, or fitted with times and a length that are right.
    private func content(
        _ choices: inout Choices, _ statements: [RotationStatement], isFitted: Bool, bucket: Int
    ) -> Bytes {
        var content: Bytes = [choices.byte()]
        if isFitted {
            content.append(contentsOf: repeatElement(0x77, count: MessageID.length))
            content.append(bigEndian: KnownKeys.now.milliseconds)
            content.append(bigEndian: UInt32(Freshness.maximumTimeToLive.seconds))
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
    private func sign(_ inner: inout Bytes, _ signer: ProviderKey, _ channel: SealedChannel, fault: UInt8) -> Bool {
        let key = signer.publicKey
        let message =
            switch fault {
            case 1: channel.toSign(inner, by: key, topic: KnownKeys.otherTopic)
            case 2: channel.toSign(inner, by: key, recipient: KnownKeys.otherDevice.publicKey)
            case 3:
                channel.toSign(
                    inner,
                    by: scene.senders[0].publicKey == key ? scene.senders[1].publicKey : scene.senders[0].publicKey)
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

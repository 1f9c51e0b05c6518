import PushcryptReceiver

@testable import Pushcrypt
@testable import PushcryptKeyStore

/// The inner plaintext: encrypted and signed by the harness, rightly or not, it is opened exactly when the format says so, is
/// refused with the code that the format gives, and what is refused has no effect.
///
/// Input: bucket and signer; clock and what is wrong with the signature; who opens, the suite, the expected class, and whether
/// the epoch is another; which certificate comes first, if any; then the content from its kind on.
struct InnerTarget: FuzzTarget {
    static let name = "inner"

    private static let clocks: [Int64] = [
        0, 1, 86_400_000, -86_400_000, 2_592_000_000, 5_184_000_001, -1, 3_000_000_000,
    ]

    private let scene = TrustScene()
    private let phones: [Phone]

    /// A device with one key, and the way to it.
    private struct Phone {
        let suite: CipherSuite
        let channel: SealedChannel
        let opener: Opener
        let store: MemoryDeviceStore
        /// The device's knowledge before a message.
        let state: DeviceState
        let receiver: NotificationReceiver

        init(_ key: DeviceKey, _ trust: ProviderTrust) {
            suite = key.publicKey.suite
            channel = SealedChannel(to: key.publicKey)
            opener = Opener(topic: KnownKeys.topic, deviceKeys: [key], trust: trust)
            var state = DeviceState()
            KnownKeys.known { () throws(KeyStoreError) in
                try state.setPins(trust.pinned.map { ProviderPin($0) }, topic: KnownKeys.topic)
                try state.add(key, at: Timestamp(milliseconds: 0))
            }
            state.learned = trust.pins.compactMap { pin in
                guard pin.learned != LearnedTrust() else { return nil }
                return DeviceState.Learned(provider: pin.key, topic: KnownKeys.topic, trust: pin.learned)
            }
            (self.state, store) = (state, MemoryDeviceStore(state))
            // Without a replay guard, so that every copy of a message is new.
            receiver = NotificationReceiver(
                store: store, database: ExtensionDatabase(in: "/nonexistent"), topic: nil)
        }
    }

    /// How a message is sealed.
    private struct Message {
        /// The key that signs, and the provider key that it signs for.
        var signer: (key: Bytes, sign: (Bytes) -> Bytes)
        let provider: ProviderPublicKey
        let epoch: UInt32
        let certificate: Certificate?
    }

    init() {
        let trust = scene.trust
        phones = [KnownKeys.device, KnownKeys.postQuantum].compactMap { $0.map { Phone($0, trust) } }
    }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let (first, second, third, fourth) = (choices.byte(), choices.byte(), choices.byte(), choices.byte())
        let now = Timestamp(
            milliseconds: UInt64(Int64(KnownKeys.now.milliseconds) + Self.clocks[Int(second & 7)]))
        let phone = phones[Int(third >> 4 & 1) % phones.count]
        let expected = PushClass(rawValue: third & 3) ?? .alert
        let message = message(signer: first >> 4, certificate: fourth, hasOtherEpoch: third & 0x20 != 0)
        let buckets = Bucket.all(phone.suite)
        var inner = content(
            &choices, message.certificate, isFitted: first & 8 != 0, bucket: buckets[Int(first & 7) % buckets.count])
        let isSigned = sign(&inner, message, phone.channel, fault: second >> 3 & 7)
        if second & 0x40 != 0 { inner[choices.number(below: 4)] ^= 1 }

        let model = InnerModel(
            inner: inner,
            signature: isSigned
                ? InnerModel.Signature(signing: message.signer.key, provider: message.provider, epoch: message.epoch)
                : nil, scene: scene, expected: expected, now: now)
        let envelope = phone.channel.envelope(of: inner)
        let isReceived = third & 8 != 0 && expected == .alert
        switch isReceived ? receive(envelope, phone, at: now) : open(envelope, phone, as: expected, at: now) {
        case .opened(let opened):
            require(model.code == nil, "inner: refused with \(model.code?.description ?? "")")
            require(opened.provider == model.provider, "inner: the provider is the pin")
            require(model.written(opened) == inner, "inner: what is opened is written with the same bytes")
        case .refused(let code):
            require(model.code?.description == code, "inner: \(model.code?.description ?? "opened"), not \(code)")
        }
    }

    // MARK: Opening

    private enum Outcome {
        case opened(OpenedNotification)
        case refused(String)
    }

    private func open(
        _ envelope: Envelope, _ phone: Phone, as expected: PushClass, at now: Timestamp
    ) -> Outcome {
        do throws(OpenError) {
            return .opened(try phone.opener.open(envelope, at: now, as: expected))
        } catch {
            return .refused(error.code.description)
        }
    }

    /// Opens as a phone does, which lets a message that has opened take effect.
    private func receive(_ envelope: Envelope, _ phone: Phone, at now: Timestamp) -> Outcome {
        KnownKeys.known { () throws(KeyStoreError) in try phone.store.change { $0 = phone.state } }
        let push = Bytes(#"{"ENCRYPTED_DATA":"\#(envelope.text)"}"#.utf8)
        let delivery = phone.receiver.receive(push, requestID: nil, at: now).delivery
        guard let after = phone.store.load()?.state else { fail("inner: a message deletes nothing") }
        switch delivery.outcome {
        case .opened, .dropped:
            guard let opened = delivery.opened else { fail("inner: an opened push has its notification") }
            for provider in scene.providers.map(\.publicKey) {
                var known = phone.state.trust(in: provider, for: KnownKeys.topic)
                if provider == opened.provider, let certificate = opened.certificate {
                    _ = try? known.accept(certificate, for: KnownKeys.topic)
                }
                require(
                    after.trust(in: provider, for: KnownKeys.topic) == known,
                    "inner: what a message has brought takes effect, and nothing else")
            }
            require(after.accounts == phone.state.accounts, "inner: a message changes no active key and no pin")
            return .opened(opened)
        case .fallback(let reason):
            require(after == phone.state, "inner: what was refused has no effect")
            return .refused(reason.code)
        case .openedWithoutAttachment, .passed, .suppressed, .withdrawn:
            fail("inner: a sealed push is opened or refused")
        }
    }

    // MARK: Sealing

    /// The signer, for a provider key: 0 to 2 the key of the certificate, or without one the first provider's; then others.
    private func message(signer: UInt8, certificate number: UInt8, hasOtherEpoch: Bool) -> Message {
        let entry = number == 0 ? nil : scene.entries[Int(number - 1) % scene.entries.count]
        let (providers, keys) = (scene.providers, scene.signing)
        let provider = providers[Int(signer) % 3 == 1 ? 1 : Int(signer) % 3 == 2 ? 2 : 0]
        func by(_ key: ProviderKey) -> (key: Bytes, sign: (Bytes) -> Bytes) {
            (key.publicKey.bytes, { key.signature(of: $0.span) })
        }
        func by(_ key: SigningKey) -> (key: Bytes, sign: (Bytes) -> Bytes) {
            (key.publicKey.bytes, { key.signature(of: $0.span) })
        }
        var chosen = entry.map { by($0.signing) } ?? by(provider)
        if signer >= 12 { chosen = by(keys[Int(signer) % 4]) } else if signer >= 9 { chosen = by(provider) }
        let epoch = (entry?.certificate.epoch ?? 0) ^ (hasOtherEpoch ? 1 : 0)
        return Message(
            signer: chosen, provider: entry?.provider ?? provider.publicKey, epoch: epoch,
            certificate: entry?.certificate)
    }

    /// Lays out what is sealed: the content as the input has it, or fitted with times and a length that are right.
    private func content(
        _ choices: inout Choices, _ certificate: Certificate?, isFitted: Bool, bucket: Int
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
        let body = (certificate?.bytes ?? []) + choices.rest()
        content.append(bigEndian: isFitted ? UInt16(truncatingIfNeeded: body.count) : length)
        var inner = Bytes(repeating: 0, count: InnerPlaintext.signed) + content + body
        inner.removeLast(max(0, inner.count - bucket))
        inner.append(contentsOf: repeatElement(0, count: bucket - inner.count))
        return inner
    }

    /// Signs, and tells whether rightly.
    private func sign(_ inner: inout Bytes, _ message: Message, _ channel: SealedChannel, fault: UInt8) -> Bool {
        func keys(_ provider: ProviderPublicKey, _ epoch: UInt32) -> SignedBy {
            SignedBy(provider: provider, signing: message.signer.key, epoch: epoch)
        }
        let right = keys(message.provider, message.epoch)
        let other = scene.providers[message.provider == scene.providers[0].publicKey ? 1 : 0]
        let toSign =
            switch fault {
            case 1: channel.toSign(inner, by: right, topic: KnownKeys.otherTopic)
            case 2: channel.toSign(inner, by: right, recipient: KnownKeys.otherDevice.publicKey)
            case 3: channel.toSign(inner, by: keys(other.publicKey, message.epoch))
            case 6: channel.toSign(inner, by: keys(message.provider, message.epoch &+ 1))
            case 7:
                channel.toSign(
                    inner,
                    by: SignedBy(
                        provider: message.provider, signing: Bytes(message.signer.key.reversed()), epoch: message.epoch)
                )
            default: channel.toSign(inner, by: right)
            }
        var prefix = Bytes()
        prefix.append(bigEndian: message.epoch)
        prefix.append(contentsOf: message.signer.sign(toSign))
        if fault == 4 { prefix[4] ^= 1 }
        if fault == 5 { prefix[InnerPlaintext.signature.upperBound - 1] ^= 0x80 }
        inner.replaceSubrange(0..<prefix.count, with: prefix)
        return fault == 0
    }
}

import Pushcrypt

/// Envelopes that are refused at one place of the opening order, and differ in where the fault lies there.
struct Places {
    /// Two kinds of envelope that a receiver should take the same time to refuse.
    enum Pair: String, CaseIterable {
        /// The first or the last byte of the ciphertext.
        case ciphertext
        /// The first or the last byte of the tag.
        case tag
        /// The first byte of R, or the last but one of S: a change of the last could make S too large.
        case signature
        /// The first or the last byte of the padding.
        case padding
        /// A device's secret of few set bits, or of random ones; the tag is wrong.
        case secret
    }

    static let now = Timestamp(milliseconds: 1_790_000_000_000)
    private static let topic = "com.example.app"
    private static let payload = Array(#"{"aps":{"alert":"See you at 8"}}"#.utf8)
    /// How much of the inner plaintext is padding.
    static let padding = bucket - 99 - payload.count
    private static let bucket = 2816

    /// One envelope and who opens it.
    struct Sample {
        let envelope: Envelope
        let opener: Opener
    }

    private let sender: ForgedSender
    private let device: ForgedDevice
    private var numbers: Numbers
    private let opener: Opener

    init(seed: UInt64) throws {
        numbers = Numbers(seed: seed)
        sender = ForgedSender(seed: numbers.bytes(32))
        device = ForgedDevice(scalar: numbers.bytes(32))
        opener = try Self.opener(device, sender)
    }

    private static func opener(_ device: ForgedDevice, _ sender: ForgedSender) throws -> Opener {
        Opener(
            topic: try Topic(topic), deviceKeys: [try device.key()],
            trust: SenderTrust(pinned: [try sender.trusted()]))
    }

    private mutating func forgery(to device: ForgedDevice? = nil) -> Forgery {
        Forgery(
            to: device ?? self.device, from: sender, topic: Self.topic, body: Self.payload, bucket: Self.bucket,
            sentAt: Self.now.milliseconds, ephemeral: numbers.bytes(32))
    }

    private func sample(_ bytes: [UInt8], _ opener: Opener? = nil) throws -> Sample {
        let text = Bytes(Base64.encode(bytes))
        return Sample(envelope: try Envelope(text: text.span), opener: opener ?? self.opener)
    }

    /// A new envelope with its fault at the first place of a pair, or at the second.
    mutating func sample(_ pair: Pair, isFirst: Bool) throws -> Sample {
        var forgery = forgery()
        switch pair {
        case .ciphertext, .tag:
            var bytes = forgery.bytes()
            let range = pair == .tag ? bytes.count - 16..<bytes.count : 37..<bytes.count - 16
            bytes[isFirst ? range.lowerBound : range.upperBound - 1] ^= UInt8.random(in: 1...255, using: &numbers)
            return try sample(bytes)
        case .signature:
            let change = UInt8.random(in: 1...255, using: &numbers)
            forgery.changeSignature = { $0[isFirst ? 0 : 62] ^= change }
            return try sample(forgery.bytes())
        case .padding:
            let change = UInt8.random(in: 1...255, using: &numbers)
            forgery.changeContent = { $0[isFirst ? $0.count - Self.padding : $0.count - 1] = change }
            return try sample(forgery.bytes())
        case .secret:
            // 2^254 + 8, which clamping leaves as it is; there is a key object for each sample in both sets.
            let few = [8] + [UInt8](repeating: 0, count: 30) + [64]
            let device = ForgedDevice(scalar: isFirst ? few : numbers.bytes(32))
            var bytes = self.forgery(to: device).bytes()
            bytes[bytes.count - 1] ^= 1
            return try sample(bytes, Self.opener(device, sender))
        }
    }

    /// One envelope for each place of the order, by its name, for the time that each takes.
    mutating func allPlaces() throws -> [(name: String, sample: Sample)] {
        var places: [(name: String, sample: Sample)] = []
        var stranger = forgery()
        stranger.recipientID[0] ^= 1
        places.append(("unknown device key", try sample(stranger.bytes())))
        var bytes = forgery().bytes()
        bytes[bytes.count - 1] ^= 1
        places.append(("tag", try sample(bytes)))
        var length = forgery()
        length.bodyLength = Self.bucket
        places.append(("body length", try sample(length.bytes())))
        var sender = forgery()
        sender.senderID[0] ^= 1
        places.append(("unknown sender", try sample(sender.bytes())))
        var large = forgery()
        large.changeSignature = { $0[63] |= 0xe0 }
        places.append(("signature with S above L", try sample(large.bytes())))
        var signature = forgery()
        signature.changeSignature = { $0[0] ^= 1 }
        places.append(("signature", try sample(signature.bytes())))
        var padding = forgery()
        padding.changeContent = { $0[$0.count - 1] = 1 }
        places.append(("padding", try sample(padding.bytes())))
        places.append(("none: it opens", try sample(forgery().bytes())))
        return places
    }
}

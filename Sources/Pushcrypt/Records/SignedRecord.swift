/// A phone's record as it signs and posts it: a registration, or the end of its device.
///
///     signed   "pushcrypt/1 record" || 0x00 || channel || lp16(context) || provider public key || record bytes
///
/// (`Docs/FormatRecords.md`, Posts)
public struct SignedRecord: Hashable, Sendable {
    /// The channel that a signature is for, so that a record of one is no use on the other.
    package enum Channel: UInt8, Sendable {
        /// In the session of the account's user, or before that of the operator.
        case session = 1
        /// Without a session.
        case open = 2
    }

    /// The record.
    package enum Content: Hashable, Sendable {
        case registration(DeviceRegistration)
        case end(DeviceEnd)
    }

    package let content: Content
    /// The record as it was signed.
    package let bytes: ContiguousArray<UInt8>
    private let signature: ContiguousArray<UInt8>

    /// The record, then its signature: the bytes that a reply to the post is signed over. Otherwise somebody on the way could get
    /// the genuine record refused by changing the signature alone. [D-44]
    package var asked: ContiguousArray<UInt8> { bytes + signature }

    /// The most bytes of a record.
    static let maximumLength = 16_384

    /// Signs a registration, which has its device id, update key, sequence and nonce.
    package init(
        _ registration: DeviceRegistration, by key: SigningKey, over channel: Channel, for topic: Topic
    ) {
        self.init(.registration(registration), registration.json, key, channel, topic)
    }

    /// Signs a registration as a phone does, for tests of a server.
    ///
    /// - Parameters:
    ///   - registration: The record; it has a device id.
    ///   - sequence: Its place among the records of the device, 1 to 2^53 − 2.
    ///   - key: The device's update key.
    ///   - session: Whether it is for the session of its user.
    ///   - topic: The app.
    public init(
        _ registration: DeviceRegistration, sequence: UInt64, by key: SigningKey, in session: Bool = true,
        for topic: Topic
    ) {
        precondition(registration.deviceID != nil, "a signed record names its device")
        var registration = registration
        (registration.updateKey, registration.sequence, registration.nonce) = (key.publicKey, sequence, RecordNonce())
        self.init(registration, by: key, over: session ? .session : .open, for: topic)
    }

    /// Signs the end of a device as a phone does, for tests of a server.
    public init(endOf device: String, at provider: ProviderPublicKey, by key: SigningKey, for topic: Topic) {
        self.init(DeviceEnd(of: device, at: provider), by: key, for: topic)
    }

    /// Signs the end of a device.
    package init(_ end: DeviceEnd, by key: SigningKey, for topic: Topic) {
        self.init(.end(end), end.json, key, .open, topic)
    }

    private init(
        _ content: Content, _ bytes: ContiguousArray<UInt8>, _ key: SigningKey, _ channel: Channel, _ topic: Topic
    ) {
        let signed = Self.message(bytes, by: content.provider, channel, topic)
        (self.content, self.bytes, signature) = (content, bytes, key.signature(of: signed.span))
    }

    /// Reads a record and its signature, which is not verified yet. [D-15] [D-18]
    ///
    /// - Throws: `malformedRecord`, or the error of a key in the record.
    init(
        record bytes: ContiguousArray<UInt8>, signature: ContiguousArray<UInt8>, over channel: Channel
    ) throws(KeyError) {
        let record = try KeyRecord(bytes)
        if try record.isEnd() {
            content = .end(try DeviceEnd(record))
        } else {
            let registration = try DeviceRegistration(record)
            guard registration.deviceID != nil, registration.updateKey != nil, registration.sequence != nil,
                registration.nonce != nil, channel == .session || registration.pinnedProvider != nil
            else {
                throw KeyError(
                    .malformedRecord,
                    "a signed record has device, update_key, sequence, nonce and, without a session, provider")
            }
            content = .registration(registration)
        }
        (self.bytes, self.signature) = (bytes, signature)
    }

    /// The device that the record is about.
    package var device: String {
        switch content {
        case .registration(let registration): registration.deviceID ?? ""
        case .end(let end): end.device
        }
    }

    /// The record's place among those of its device.
    package var sequence: UInt64 {
        switch content {
        case .registration(let registration): registration.sequence ?? 0
        case .end: DeviceEnd.sequence
        }
    }

    /// The provider key that the record names, which its signature covers.
    package var provider: ProviderPublicKey? { content.provider }

    /// Whether the key has signed the record for this channel and app. [D-24]
    package func isSigned(by key: SigningPublicKey, over channel: Channel, for topic: Topic) -> Bool {
        let (signed, key) = (Self.message(bytes, by: provider, channel, topic), key.bytes)
        return Ed25519.isValid(signature.span, for: signed.span, publicKey: key.span)
    }

    private static func message(
        _ record: ContiguousArray<UInt8>, by provider: ProviderPublicKey?, _ channel: Channel, _ topic: Topic
    ) -> ContiguousArray<UInt8> {
        var message = ContiguousArray<UInt8>()
        message.append("pushcrypt/1 record\0")
        message.append(channel.rawValue)
        message.append(contentsOf: topic.lengthPrefixed)
        message.append(contentsOf: provider?.bytes ?? ContiguousArray(repeating: 0, count: ProviderPublicKey.length))
        message.append(contentsOf: record)
        return message
    }

    /// The body of the post, minified JSON.
    public var body: ContiguousArray<UInt8> {
        SignedText.json(bytes, named: "record", signature)
    }
}

extension SignedRecord.Content {
    fileprivate var provider: ProviderPublicKey? {
        switch self {
        case .registration(let registration): registration.pinnedProvider
        case .end(let end): end.provider
        }
    }
}

/// The last record of a device, which ends it: `{"device","provider","nonce","sequence","ended"}`. Nothing outranks it.
package struct DeviceEnd: Hashable, Sendable {
    /// Above that of any other record.
    package static let sequence = Timestamp.maximum.milliseconds

    package let device: String
    package let provider: ProviderPublicKey
    package let nonce: RecordNonce

    package init(of device: String, at provider: ProviderPublicKey) {
        (self.device, self.provider, nonce) = (device, provider, RecordNonce())
    }

    fileprivate init(_ record: KeyRecord) throws(KeyError) {
        guard let device = try record.deviceID(), let text = try record.text("provider"),
            let nonce = try record.nonce(), try record.number("sequence") == Self.sequence
        else {
            throw KeyError(
                .malformedRecord, "an end has device, provider, nonce and the sequence \(Self.sequence)")
        }
        (self.device, provider, self.nonce) = (device, try ProviderPublicKey(text: text), nonce)
    }

    fileprivate var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(device, for: "device")
            json.string(provider.description, for: "provider")
            json.string(nonce.description, for: "nonce")
            json.integer(Self.sequence, for: "sequence")
            json.bool(true, for: "ended")
        }
        return json.bytes
    }
}

/// 16 fresh bytes of a record, so that no two are the same; as text 22 characters of base64url.
package struct RecordNonce: Hashable, Sendable, LosslessStringConvertible {
    package let description: String

    package init() { description = Base64URL.string(Sodium.randomBytes(16).span) }

    /// Parses the text; returns nil for anything else.
    package init?(_ description: String) {
        let text = ContiguousArray(description.utf8)
        guard Base64URL.decode(text.span)?.count == 16 else { return nil }
        self.description = description
    }
}

/// The form of signed records and replies: base64url of the bytes, and of the signature.
enum SignedText {
    static func json(
        _ bytes: ContiguousArray<UInt8>, named name: String, _ signature: ContiguousArray<UInt8>
    ) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(Base64URL.string(bytes.span), for: name)
            json.string(Base64URL.string(signature.span), for: "signature")
        }
        return json.bytes
    }

    static func decode(_ text: String, upTo length: Int) -> ContiguousArray<UInt8>? {
        let text = ContiguousArray(text.utf8)
        guard let bytes = Base64URL.decode(text.span), bytes.count <= length else { return nil }
        return bytes
    }

    static func signature(_ text: String) -> ContiguousArray<UInt8>? {
        decode(text, upTo: Ed25519.signatureLength).flatMap { $0.count == Ed25519.signatureLength ? $0 : nil }
    }
}

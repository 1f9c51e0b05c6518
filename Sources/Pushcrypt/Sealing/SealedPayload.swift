/// The payload to send to Apple instead of the original one.
public struct SealedPayload: Hashable, Sendable {
    /// The complete JSON, UTF-8, minified.
    public let json: ContiguousArray<UInt8>
    /// The sealed content: the value of `ENCRYPTED_DATA`.
    public let envelope: Envelope
    /// The id of the message, which the receiver shows once.
    public let messageID: MessageID
    /// The device's key that the payload is sealed to.
    public let recipient: DevicePublicKey
    /// The push type for sending.
    public let pushType: PushType
    /// The last moment at which a receiver accepts the message: the time of sealing plus the time to live.
    public let expiresAt: Timestamp
    /// The length of the longest form that a client may re-encode the JSON to, in bytes; at most Apple's limit, unless
    /// `Sealer.Message.isSentExactly` was set.
    package let maximumReencodedLength: Int
    /// The number of characters that `Sealer.Message.fitting` removed from each shortened text.
    public let shortened: [AlertText: Int]
    /// `apns-expiration`: until when APNs keeps the push, in seconds since 1970-01-01 UTC; 0 for a single delivery attempt.
    public let expiration: UInt64

    init(
        _ clear: ClearPart, _ envelope: Envelope, _ id: MessageID, _ message: Sealer.Message,
        to device: DevicePublicKey,
        until end: Timestamp, shortened: [AlertText: Int]
    ) {
        var json = clear.prefix
        // One more for the terminating zero of the base64url text, which is removed again.
        json.reserveCapacity(clear.length(bucket: envelope.innerLength, envelope.suite, isSentExactly: true) + 1)
        Base64URL.append(envelope.bytes.span, to: &json)
        json.append(ClearPart.suffix)
        self.json = json
        self.envelope = envelope
        messageID = id
        recipient = device
        pushType = message.pushType
        expiresAt = end
        expiration = message.expiration(until: end)
        self.shortened = shortened
        maximumReencodedLength = clear.length(bucket: envelope.innerLength, envelope.suite, isSentExactly: false)
    }
}

extension SealedPayload {
    /// The sealed content as custom keys, for a client library that writes `aps` itself: only `ENCRYPTED_DATA`.
    ///
    ///     struct Payload: Encodable {
    ///         let aps: APS
    ///         let custom: SealedPayload.CustomKeys
    ///
    ///         enum CodingKeys: String, CodingKey { case aps }
    ///
    ///         func encode(to encoder: any Encoder) throws {
    ///             try custom.encode(to: encoder)
    ///             var container = encoder.container(keyedBy: CodingKeys.self)
    ///             try container.encode(aps, forKey: .aps)
    ///         }
    ///     }
    ///
    /// It writes a member into the object that is being encoded, so the payload needs its own `encode(to:)`. With a
    /// synthesized one, the member would be one object deeper, where no receiver looks.
    ///
    /// The caller writes the clear part. An alert needs `mutable-content` 1 and a placeholder title or body, or the
    /// extension does not run; it needs a sound to be heard even if decryption fails. A background push, and any other
    /// push whose sealed payload has it, needs `content-available` 1. The clear part must not contain the real text.
    /// The caller also checks the length: Apple accepts `pushType.maximumPushLength` bytes. (`Docs/Format.md`, Clear
    /// part)
    public struct CustomKeys: Encodable, Hashable, Sendable {
        private let encryptedData: String

        private enum CodingKeys: String, CodingKey {
            case encryptedData = "ENCRYPTED_DATA"
        }

        init(_ envelope: Envelope) {
            encryptedData = envelope.text
        }
    }

    /// The custom keys for a client library that writes `aps` itself.
    public var customKeys: CustomKeys { CustomKeys(envelope) }
}

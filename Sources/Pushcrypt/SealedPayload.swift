/// The payload to send to Apple in place of the real one.
public struct SealedPayload: Hashable, Sendable {
    /// The complete JSON, UTF-8, minified.
    public let json: ContiguousArray<UInt8>
    /// The sealed content alone: the value of `ENCRYPTED_DATA`.
    public let envelope: Envelope
    /// Names the message; the receiver shows it once.
    public let messageID: MessageID
    /// The device's key that it is sealed to.
    public let recipient: DevicePublicKey
    /// The push type to send it as.
    public let pushType: PushType
    /// The last moment at which a receiver takes it for new: the time of sealing and the time to live.
    public let expiry: Timestamp
    /// The bytes of JSON in the widest form that a client may re-encode it to; at most Apple's limit, unless sealed for
    /// senders that send exactly.
    public let maximumReencodedLength: Int
    /// How many characters each text has lost, where `Sealer.Options.fitting` has shortened any.
    public let shortened: [AlertText: Int]

    init(
        _ clear: ClearPart, _ envelope: Envelope, messageID: MessageID, recipient: DevicePublicKey,
        pushType: PushType, expiry: Timestamp, shortened: [AlertText: Int]
    ) {
        var json = clear.prefix
        json.reserveCapacity(clear.prefix.count + Envelope.maximumTextLength)
        Base64URL.append(envelope.bytes.span, to: &json)
        json.append(ClearPart.suffix)
        self.json = json
        self.envelope = envelope
        self.messageID = messageID
        self.recipient = recipient
        self.pushType = pushType
        self.expiry = expiry
        self.shortened = shortened
        maximumReencodedLength = clear.length(bucket: envelope.innerLength, isSentExactly: false)
    }
}

extension SealedPayload {
    /// The sealed content as custom keys, for a client library that writes `aps` itself: `ENCRYPTED_DATA` and nothing else.
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
    /// It writes a member into the object that is being encoded, and so needs the payload's own `encode(to:)`: as a property
    /// in a synthesised one it would lie one object deeper, where no receiver looks.
    ///
    /// The clear part becomes the caller's duty. An alert needs `mutable-content` 1 and a title or a body that reads well by
    /// itself, or no extension runs; it needs a sound if it is to be heard when decryption fails. A background push, and any
    /// other whose sealed payload has it, needs `content-available` 1. Nothing of the real text may stand there. The length
    /// is the caller's to watch too: Apple takes `pushType.maximumPushLength` bytes. (`Docs/Format.md`, Clear part)
    public struct CustomKeys: Encodable, Hashable, Sendable {
        private let encryptedData: String

        private enum CodingKeys: String, CodingKey {
            case encryptedData = "ENCRYPTED_DATA"
        }

        init(_ envelope: Envelope) {
            encryptedData = envelope.text
        }
    }

    /// What a client library that writes `aps` itself puts beside it.
    public var customKeys: CustomKeys { CustomKeys(envelope) }
}

/// A payload that has passed every check, sealed but for its signature.
struct PreparedPayload: ~Copyable {
    private let clear: ClearPart
    private let envelope: PreparedEnvelope
    private let recipient: DevicePublicKey
    private let pushType: PushType
    private let expiry: Timestamp
    private let shortened: [AlertText: Int]

    init(
        _ clear: ClearPart, _ envelope: consuming PreparedEnvelope, _ recipient: DevicePublicKey,
        _ pushType: PushType, expiry: Timestamp, shortened: [AlertText: Int]
    ) {
        self.clear = clear
        self.envelope = envelope
        self.recipient = recipient
        self.pushType = pushType
        self.expiry = expiry
        self.shortened = shortened
    }

    /// What is to be signed.
    var toSign: ContiguousArray<UInt8> { envelope.toSign }

    /// Takes the signature, 64 bytes that the caller has checked, and gives the payload to send.
    consuming func finish(signature: ContiguousArray<UInt8>) throws(SealError) -> SealedPayload {
        let id = envelope.id
        do throws(SodiumRefusal) {
            let sealed = try envelope.finish(signature: signature)
            return SealedPayload(
                clear, sealed, messageID: id, recipient: recipient, pushType: pushType, expiry: expiry,
                shortened: shortened)
        } catch {
            throw SealError(unusableKey: recipient.id)
        }
    }
}

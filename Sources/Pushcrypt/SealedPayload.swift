/// The payload to send to Apple in place of the real one.
public struct SealedPayload: Hashable, Sendable {
    /// The complete JSON, UTF-8, minified.
    public let json: ContiguousArray<UInt8>
    /// The sealed content alone: the value of `ENCRYPTED_DATA`.
    public let envelope: Envelope
    /// Names the message; the receiver shows it once.
    public let messageID: MessageID
    /// The push type to send it as.
    public let pushType: PushType
    /// The bytes of JSON in the widest form that a client may re-encode it to; at most Apple's limit, unless sealed for
    /// senders that send exactly.
    public let widestLength: Int
    /// How many characters each text has lost, where `Sealer.Options.fitting` has shortened any.
    public let shortened: [AlertText: Int]

    init(
        _ clear: ClearPart, _ envelope: Envelope, messageID: MessageID, pushType: PushType, shortened: [AlertText: Int]
    ) {
        var json = clear.prefix
        json.reserveCapacity(clear.prefix.count + Envelope.maximumTextLength)
        Base64URL.append(envelope.bytes.span, to: &json)
        json.append(ClearPart.suffix)
        self.json = json
        self.envelope = envelope
        self.messageID = messageID
        self.pushType = pushType
        self.shortened = shortened
        widestLength = clear.length(bucket: envelope.innerLength, exact: false)
    }
}

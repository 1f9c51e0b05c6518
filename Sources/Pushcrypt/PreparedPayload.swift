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

/// A payload that has passed every check, sealed but for its signature.
struct PreparedPayload: ~Copyable {
    private let clear: ClearPart
    private let envelope: PreparedEnvelope
    private let recipient: KeyID
    private let pushType: PushType

    init(_ clear: ClearPart, _ envelope: consuming PreparedEnvelope, _ recipient: KeyID, _ pushType: PushType) {
        self.clear = clear
        self.envelope = envelope
        self.recipient = recipient
        self.pushType = pushType
    }

    /// What is to be signed.
    var toSign: ContiguousArray<UInt8> { envelope.toSign }

    /// Takes the signature, 64 bytes that the caller has checked, and gives the payload to send.
    consuming func finish(signature: ContiguousArray<UInt8>) throws(SealError) -> SealedPayload {
        let id = envelope.id
        do throws(SodiumRefusal) {
            let sealed = try envelope.finish(signature: signature)
            return SealedPayload(clear, sealed, messageID: id, pushType: pushType)
        } catch {
            throw SealError(unusableKey: recipient)
        }
    }
}

/// The member `pushcrypt` that a sealer adds to a payload.
struct ReservedMember {
    let message: Sealer.Message
    /// The key for the receiver's answer.
    let answer: AnswerKey?

    /// The member with its name; empty if there is nothing to say.
    var json: ContiguousArray<UInt8> {
        guard
            !message.attachments.isEmpty || message.fullBody != nil || message.from != nil
                || !message.withdrawing.isEmpty || message.isDropped || answer != nil
        else { return [] }
        var json = JSONWriter()
        json.object(for: PayloadKeys.reserved) { json in
            message.fullBody?.reference.write(to: &json, for: FullBody.key)
            AttachmentList.write(message.attachments, to: &json)
            message.from?.write(to: &json)
            Withdrawal.write(message.withdrawing, isDropped: message.isDropped, to: &json)
            answer?.write(to: &json)
        }
        return json.bytes
    }
}

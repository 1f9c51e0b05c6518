/// The member `pushcrypt` that a sealer adds to a payload.
struct ReservedMember {
    var attachments: [AttachmentReference] = []
    var fullBody: FullBody?
    var from: CommunicationSender?
    /// The names of the messages to withdraw.
    var withdrawing: [String] = []
    var isDropped = false
    /// What the receiver answers with.
    var answer: AnswerKey?

    /// The member with its name; empty if there is nothing to say.
    var json: ContiguousArray<UInt8> {
        guard
            !attachments.isEmpty || fullBody != nil || from != nil || !withdrawing.isEmpty || isDropped
                || answer != nil
        else { return [] }
        var json = JSONWriter()
        json.object(for: PayloadKeys.reserved) { json in
            fullBody?.reference.write(to: &json, for: FullBody.key)
            AttachmentList.write(attachments, to: &json)
            from?.write(to: &json)
            Withdrawal.write(withdrawing, isDropped: isDropped, to: &json)
            answer?.write(to: &json)
        }
        return json.bytes
    }
}

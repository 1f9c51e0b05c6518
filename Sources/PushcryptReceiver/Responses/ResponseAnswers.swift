package import Pushcrypt
package import PushcryptKeyStore

// Seals the user's responses as answers for the provider. (`Docs/FormatRecords.md`, Answers)
extension AnswerKeys {
    /// Returns the text of the answer to send; nil if the message cannot be answered, or not any more. The same action and
    /// text again are the same answer.
    ///
    /// - Parameters:
    ///   - response: The response to the message.
    ///   - action: The action's id.
    ///   - text: What the user typed; nil for an action without a text field.
    ///   - device: The device's keys.
    ///   - answeredAt: When the user answered.
    ///   - now: The present time.
    /// - Throws: `KeyStoreError`: the errors of `AnswerKeys.key`, `storeLocked` before the first unlock. `SealError`:
    ///   `invalidRequest`, `payloadTooLarge`.
    package func answer(
        to response: NotificationResponseValue, action: String, text: String?, openedWith device: any DeviceStore,
        answeredAt: Timestamp, at now: Timestamp
    ) throws -> String? {
        guard let mark = response.mark, let kept = try key(of: mark, openedWith: device, at: now) else {
            return nil
        }
        if let given = kept.given, let sealed = try? SealedAnswer(bytes: given),
            let earlier = sealed.answer(with: kept.key, device: kept.device),
            (earlier.action, earlier.text) == (action, text)
        {
            return sealed.text
        }
        let answer = Answer(
            device: kept.device, kept.messageID, sentAt: kept.sentAt, action: action, text: text, answeredAt: answeredAt
        )
        let sealed = try SealedAnswer(answer, with: kept.key)
        // Without it a repetition is another answer, which the provider refuses.
        try? remember(sealed.bytes, to: mark)
        return sealed.text
    }
}

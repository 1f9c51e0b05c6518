internal import Dispatch
internal import Pushcrypt
internal import PushcryptKeyStore
public import PushcryptReceiver

extension ReceivedResponse {
    /// Seals the user's answer for the provider, and returns the text to send to it, over any channel: nobody in between
    /// can read it.
    ///
    /// Call it in the responder's handler: when the app is done with the response, nothing is left to answer with. The same
    /// action and text again give the same text, so that a response that is passed twice is one answer. Before the first
    /// unlock it throws `storeLocked`; the handler then returns `later`. (`Docs/FormatRecords.md`, Answers) Not run on
    /// Apple systems.
    ///
    /// - Parameters:
    ///   - action: The action's id, if it is not the notification's: of a button in the app.
    ///   - text: What the user typed in the app; nil for what was typed in the notification, if anything.
    ///   - configuration: The responder's.
    /// - Returns: nil if the message was not sealed to be answered, was withdrawn, or is older than 31 days.
    /// - Throws: `KeyStoreError`; `SealError` with `invalidRequest` or `payloadTooLarge`; the errors of the configuration.
    public func answer(
        with action: String? = nil, text: String? = nil, using configuration: NotificationResponder.Configuration
    ) async throws -> String? {
        try await NotificationResponder.blocking {
            let (opening, files) = (configuration.opening, ServiceFiles(configuration.opening))
            let now = opening.now()
            return try ExpiringActivity.system.run("answering", expired: files.stop) {
                try files.database().answerKeys.answer(
                    to: value, action: action ?? value.action.identifier, text: text ?? value.userText,
                    openedWith: opening.keys(), answeredAt: keptAt ?? now, at: now)
            }
        }
    }
}

extension NotificationResponder {
    /// The queue for waiting on disk and keys, so that tasks' shared threads never wait.
    private static let queue = DispatchQueue(
        label: "pushcrypt.respond", qos: .userInitiated, attributes: .concurrent)

    static func blocking<R: Sendable, E: Error>(
        _ work: @escaping @Sendable () throws(E) -> R
    ) async throws(E) -> R {
        let result: Result<R, E> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(E) in try work() }) }
        }
        return try result.get()
    }
}

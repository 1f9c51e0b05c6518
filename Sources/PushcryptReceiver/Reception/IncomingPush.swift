package import Pushcrypt

/// A push as the system hands it over; nothing in it is authenticated.
package struct IncomingPush: Sendable {
    /// The value of `ENCRYPTED_DATA`.
    package enum EncryptedData: Hashable, Sendable {
        /// No value: the push was not sealed.
        case absent
        /// A value that is not a string, which no sealer produces.
        case notText
        /// A string, possibly an envelope.
        case text(String)
    }

    /// The value of `ENCRYPTED_DATA`.
    package var encryptedData: EncryptedData
    /// The content that the push itself would show; a fallback keeps its title, shortened, and its sound.
    package var clear: NotificationContent
    /// Whether the app's policy lets this push be shown as it is if it has no `ENCRYPTED_DATA`. Anyone on the way can
    /// create such a push; the default is no.
    package var mayPassInTheClear = false

    /// Creates a value from a push that the system has parsed.
    package init(encryptedData: EncryptedData, clear: NotificationContent) {
        self.encryptedData = encryptedData
        self.clear = clear
    }

    /// Creates a value from the JSON of a push.
    package init(_ push: ReceivedPush) {
        let root = push.root
        encryptedData =
            if let data = root[PayloadKeys.encryptedData] {
                data.string.map(EncryptedData.text) ?? .notText
            } else {
                .absent
            }
        clear = NotificationContent(payload: root)
    }

    /// Parses the text of `ENCRYPTED_DATA`; throws `notEncrypted`, `malformedEnvelope` or `unsupportedSuite`.
    func envelope() throws(OpenError) -> Envelope {
        guard case .text(let text) = encryptedData else { throw .notEncrypted }
        return try Envelope(text: text)
    }
}

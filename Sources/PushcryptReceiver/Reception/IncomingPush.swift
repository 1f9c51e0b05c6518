public import Pushcrypt

/// A push as the system hands it over; nothing of it is authentic.
public struct IncomingPush: Sendable {
    /// What stands under `ENCRYPTED_DATA`.
    public enum EncryptedData: Hashable, Sendable {
        /// Nothing: the push was not sealed.
        case absent
        /// Something that is not a string, which nobody seals.
        case notText
        /// An envelope, perhaps.
        case text(String)
    }

    /// What stands under `ENCRYPTED_DATA`.
    public var encryptedData: EncryptedData
    /// What the push would show by itself; a fallback keeps its title and its sound.
    public var clear: NotificationContent
    /// Whether the app's policy lets this push be shown as it is if nothing stands under `ENCRYPTED_DATA`. Anyone on
    /// the way can make such a push; the default is no.
    public var mayPassInTheClear = false

    /// Takes a push apart that the system has parsed.
    public init(encryptedData: EncryptedData, clear: NotificationContent) {
        self.encryptedData = encryptedData
        self.clear = clear
    }

    /// Takes the JSON of a push apart.
    public init(_ push: ReceivedPush) {
        let root = push.root
        encryptedData =
            if let data = root[PayloadKeys.encryptedData] {
                data.string.map(EncryptedData.text) ?? .notText
            } else {
                .absent
            }
        clear = NotificationContent(payload: root)
    }

    /// Parses the text under `ENCRYPTED_DATA`; throws `notEncrypted`, `malformedEnvelope` or `unsupportedSuite`.
    func envelope() throws(OpenError) -> Envelope {
        guard case .text(let text) = encryptedData else { throw .notEncrypted }
        return try Envelope(text: text)
    }
}

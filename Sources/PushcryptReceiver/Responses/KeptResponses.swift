package import Pushcrypt
package import PushcryptKeyStore

/// Responses that the app could not handle yet, because the phone and the app's files are locked: stored on the disk,
/// sealed, until the app asks.
///
///     case .custom("REPLY"): if database.isLocked { try kept.keep(response, sealedTo: key, at: now) }
///     …
///     for waiting in try kept.waiting(openedWith: keys, at: now) { take(waiting.response); try kept.remove(waiting) }
///
/// Ask when protected data becomes available, and at each launch. The guarantees are those of `Responses`.
package struct KeptResponses: Sendable {
    private let responses: Responses

    /// A stored response.
    package struct Waiting: Hashable, Sendable {
        /// The user's response.
        package let response: NotificationResponseValue
        /// When it was stored.
        package var keptAt: Timestamp { kept.keptAt }
        fileprivate let kept: Responses.Kept
    }

    /// Keeps responses in a database.
    package init(in responses: Responses) { self.responses = responses }

    /// Stores a response for later; it is on the disk when this returns, and the system's completion handler can be
    /// called.
    ///
    /// - Parameters:
    ///   - response: The user's response.
    ///   - key: The account's device key, for example from its registration.
    ///   - now: When the user responded.
    /// - Returns: The number of the oldest responses dropped to make room; at most 64 are kept.
    /// - Throws: The errors of `Responses.keep`.
    @discardableResult
    package func keep(
        _ response: NotificationResponseValue, sealedTo key: DevicePublicKey, at now: Timestamp
    ) throws(KeyStoreError) -> Int {
        try responses.keep(response.json, sealedTo: key, at: now)
    }

    /// Returns the stored responses, oldest first; each stays until it is removed.
    ///
    /// - Throws: The errors of `Responses.responses`; `storeLocked` before the first unlock.
    package func waiting(
        openedWith keys: any DeviceStore, at now: Timestamp
    ) throws(KeyStoreError) -> [Waiting] {
        var waiting: [Waiting] = []
        for kept in try responses.responses(openedWith: keys, at: now) {
            // Stored by a later version of the app; it stays for that.
            guard let response = NotificationResponseValue(json: kept.response) else { continue }
            waiting.append(Waiting(response: response, kept: kept))
        }
        return waiting
    }

    /// Removes a response that the app has handled; throws the errors of `Responses.remove`.
    package func remove(_ waiting: Waiting) throws(KeyStoreError) { try responses.remove(waiting.kept) }
}

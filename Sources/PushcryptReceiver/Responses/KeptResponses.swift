package import Pushcrypt
package import PushcryptKeyStore

/// Responses that the app could not take in yet, because the phone is locked and files of its own with it: kept on the
/// disk, sealed, and given again when the app asks.
///
///     case .custom("REPLY"): if database.isLocked { try kept.keep(response, sealedTo: key, at: now) }
///     …
///     for waiting in try kept.waiting(openedWith: keys, at: now) { take(waiting.response); try kept.remove(waiting) }
///
/// Ask when protected data becomes available, and at each launch. What `ResponseFile` says of safety holds.
package struct KeptResponses: Sendable {
    private let file: ResponseFile

    /// A response that waits.
    package struct Waiting: Hashable, Sendable {
        /// What the person did.
        package let response: NotificationResponseValue
        /// When it was kept.
        package var keptAt: Timestamp { kept.keptAt }
        fileprivate let kept: ResponseFile.Kept
    }

    /// Keeps responses in a file.
    package init(in file: ResponseFile) { self.file = file }

    /// Keeps a response for later; it is on the disk when this returns, and the system's completion can be called.
    ///
    /// - Parameters:
    ///   - response: what the person did.
    ///   - key: the account's device key, for example from the record that was registered.
    ///   - now: when.
    /// - Returns: how many of the oldest responses were given up for it; more than 64 are not kept.
    /// - Throws: as `ResponseFile.keep`.
    @discardableResult
    package func keep(
        _ response: NotificationResponseValue, sealedTo key: DevicePublicKey, at now: Timestamp
    ) throws(KeyStoreError) -> Int {
        try file.keep(response.json, sealedTo: key, at: now)
    }

    /// The responses that wait, oldest first; each is given until it is removed.
    ///
    /// - Throws: as `ResponseFile.responses`; `storeLocked` before the first unlock.
    package func waiting(
        openedWith keys: some DeviceKeyReading, at now: Timestamp
    ) throws(KeyStoreError) -> [Waiting] {
        var waiting: [Waiting] = []
        for kept in try file.responses(openedWith: keys, at: now) {
            // A later version of the app has kept it: it stays for that.
            guard let response = NotificationResponseValue(json: kept.response) else { continue }
            waiting.append(Waiting(response: response, kept: kept))
        }
        return waiting
    }

    /// Forgets a response that the app has taken in; throws as `ResponseFile.remove`.
    package func remove(_ waiting: Waiting) throws(KeyStoreError) { try file.remove(waiting.kept) }
}

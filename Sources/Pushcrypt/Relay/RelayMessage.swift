/// A sealed push as a relay takes it, without the grant. (`Docs/Relay.md`, Messages)
///
/// The relay writes what the phone shows if it cannot open the push: of the placeholder only the sound is used.
package struct RelayMessage: Sendable {
    private let request: PushRequest
    private let envelope: String
    private let sound: String?
    private let isContentAvailable: Bool

    /// Creates the message of a request for a sealed payload.
    ///
    /// - Throws: `pushTypeNotSealable` for a call, which no relay passes on; `invalidRequest` for a payload that is not sealed.
    package init(_ request: PushRequest) throws(SealError) {
        guard request.pushType != .voip else {
            throw SealError(
                .pushTypeNotSealable, "a relay passes alerts and background pushes on, and no calls: send them to APNs")
        }
        guard let push = try? JSONDocument(parsing: request.payload).root,
            let envelope = push[PayloadKeys.encryptedData]?.string
        else { throw SealError(.invalidRequest, "a relay takes nothing that is not sealed") }
        self.request = request
        self.envelope = envelope
        let aps = push[PayloadKeys.aps]
        sound = aps?["sound"]?.string
        isContentAvailable = aps?["content-available"] != nil
    }

    /// The names of the members that `write` writes.
    package static let memberNames: Set = [
        "kind", "priority", "expiration", "collapse_id", "sound", "content_available", "data",
    ]

    /// Writes the members of the message into an open object.
    package func write(to json: inout JSONWriter) {
        json.string(request.pushType.description, for: "kind")
        json.integer(request.priority.rawValue, for: "priority")
        json.integer(request.expiration, for: "expiration")
        json.string(request.collapseID, for: "collapse_id")
        if request.pushType == .alert {
            if let sound { json.string(sound, for: "sound") }
            if isContentAvailable { json.bool(true, for: "content_available") }
        }
        json.string(envelope, for: "data")
    }
}

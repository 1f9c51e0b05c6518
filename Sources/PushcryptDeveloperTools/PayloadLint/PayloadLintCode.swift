extension PayloadLint {
    /// The kind of a finding. One that `SealError` or `OpenError` has too means the same here.
    package enum Code: String, CaseIterable, CustomStringConvertible {
        /// The push is not a single JSON object that the format accepts; the message names the byte.
        case malformedPayload = "malformed-payload"
        /// There is no `aps` object.
        case missingAPS = "missing-aps"
        /// A field of `aps` has a type or a value that Apple's documentation does not allow, or a key of the app has a number
        /// that phones cannot read.
        case invalidField = "invalid-field"
        /// The system does not know the field, and the app does not receive it from a sealed message.
        case unknownField = "unknown-field"
        /// A top-level key is reserved for the format.
        case reservedKey = "reserved-key"
        /// An alert has no title, subtitle or body.
        case nothingToShow = "nothing-to-show"
        /// `mutable-content` is not the number 1.
        case extensionNotStarted = "extension-not-started"
        /// An alert has `content-available`.
        case alsoWakesApp = "also-wakes-app"
        /// A background push does not have `content-available`.
        case appNotWoken = "app-not-woken"
        /// A background push has a field that only an alert shows.
        case backgroundShows = "background-shows"
        /// `ENCRYPTED_DATA` is not a string.
        case notEncrypted = "not-encrypted"
        /// An envelope is in a place where no receiver looks for it.
        case misplacedEnvelope = "misplaced-envelope"
        /// `ENCRYPTED_DATA` is not an envelope.
        case malformedEnvelope = "malformed-envelope"
        /// The envelope has a suite that this version does not know.
        case unsupportedSuite = "unsupported-suite"
        /// The push has no `ENCRYPTED_DATA`: the relay can read all of it.
        case notSealed = "not-sealed"
        /// A text that the user reads is in the clear.
        case clearText = "clear-text"
        /// Another field of `aps` is in the clear and reveals something about the message.
        case clearField = "clear-field"
        /// A key that belongs to the app is in the clear.
        case clearKey = "clear-key"
        /// The title beside an envelope is not the standard one.
        case ownPlaceholder = "own-placeholder"
        /// The payload does not fit into the largest bucket.
        case payloadTooLarge = "payload-too-large"
        /// The push is longer than Apple accepts.
        case pushTooLarge = "push-too-large"
        /// The push is longer than Apple accepts in the longest form that a client may re-encode it to.
        case growsWhenRewritten = "grows-when-rewritten"
        /// The system reads pushes of this type before any of the app's code runs.
        case pushTypeNotSealable = "push-type-not-sealable"
        /// The push type is not one that Apple defines.
        case unknownPushType = "unknown-push-type"
        /// The topic is malformed, or does not fit the push type.
        case wrongTopic = "wrong-topic"
        /// The priority is not one that Apple defines, or does not fit the push type.
        case wrongPriority = "wrong-priority"
        /// The expiration is not a time in seconds since 1970.
        case wrongExpiration = "wrong-expiration"
        /// The collapse id is empty or longer than 64 bytes.
        case wrongCollapseID = "wrong-collapse-id"
        /// The `apns-id` is not a UUID in the form that Apple writes.
        case wrongID = "wrong-apns-id"

        /// The code as programs read it, for example `clear-text`.
        package var description: String { rawValue }
    }
}

extension PayloadLint {
    /// The kind of a finding. A later version may add codes, so a `switch` over them needs a default.
    ///
    /// A code that `SealError` or `OpenError` has too means the same here.
    package struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedPayload = "malformed-payload"
            case missingAPS = "missing-aps"
            case invalidField = "invalid-field"
            case missingField = "missing-field"
            case unknownField = "unknown-field"
            case reservedKey = "reserved-key"
            case nothingToShow = "nothing-to-show"
            case extensionNotStarted = "extension-not-started"
            case alsoWakesApp = "also-wakes-app"
            case appNotWoken = "app-not-woken"
            case backgroundShows = "background-shows"
            case needsEntitlement = "needs-entitlement"
            case notEncrypted = "not-encrypted"
            case misplacedEnvelope = "misplaced-envelope"
            case malformedEnvelope = "malformed-envelope"
            case unsupportedSuite = "unsupported-suite"
            case notSealed = "not-sealed"
            case clearText = "clear-text"
            case clearField = "clear-field"
            case clearKey = "clear-key"
            case ownPlaceholder = "own-placeholder"
            case readableCollapseID = "readable-collapse-id"
            case payloadTooLarge = "payload-too-large"
            case pushTooLarge = "push-too-large"
            case growsWhenRewritten = "grows-when-rewritten"
            case pushTypeNotSealable = "push-type-not-sealable"
            case unknownPushType = "unknown-push-type"
            case wrongTopic = "wrong-topic"
            case wrongPriority = "wrong-priority"
            case wrongExpiration = "wrong-expiration"
            case wrongCollapseID = "wrong-collapse-id"
            case wrongID = "wrong-apns-id"
        }

        private let known: Known

        /// The push is not a single JSON object that the format accepts; the message names the byte.
        package static let malformedPayload = Code(known: .malformedPayload)
        /// There is no `aps` object.
        package static let missingAPS = Code(known: .missingAPS)
        /// A field of `aps` has a type or a value that Apple's documentation does not allow, or a key of the app has a number
        /// that phones cannot read.
        package static let invalidField = Code(known: .invalidField)
        /// A field that a Live Activity push needs is missing.
        package static let missingField = Code(known: .missingField)
        /// The system does not know the field, and the app does not receive it from a sealed message.
        package static let unknownField = Code(known: .unknownField)
        /// A top-level key is reserved for the format.
        package static let reservedKey = Code(known: .reservedKey)
        /// An alert has no title, subtitle or body.
        package static let nothingToShow = Code(known: .nothingToShow)
        /// `mutable-content` is not the number 1.
        package static let extensionNotStarted = Code(known: .extensionNotStarted)
        /// An alert has `content-available`.
        package static let alsoWakesApp = Code(known: .alsoWakesApp)
        /// A background push does not have `content-available`.
        package static let appNotWoken = Code(known: .appNotWoken)
        /// A background push has a field that only an alert shows.
        package static let backgroundShows = Code(known: .backgroundShows)
        /// The field has no effect without an entitlement from Apple.
        package static let needsEntitlement = Code(known: .needsEntitlement)
        /// `ENCRYPTED_DATA` is not a string.
        package static let notEncrypted = Code(known: .notEncrypted)
        /// An envelope is in a place where no receiver looks for it.
        package static let misplacedEnvelope = Code(known: .misplacedEnvelope)
        /// `ENCRYPTED_DATA` is not an envelope.
        package static let malformedEnvelope = Code(known: .malformedEnvelope)
        /// The envelope has a suite that this version does not know.
        package static let unsupportedSuite = Code(known: .unsupportedSuite)
        /// The push has no `ENCRYPTED_DATA`: the relay can read all of it.
        package static let notSealed = Code(known: .notSealed)
        /// A text that the user reads is in the clear.
        package static let clearText = Code(known: .clearText)
        /// Another field of `aps` is in the clear and reveals something about the message.
        package static let clearField = Code(known: .clearField)
        /// A key that belongs to the app is in the clear.
        package static let clearKey = Code(known: .clearKey)
        /// The title beside an envelope is not the standard one.
        package static let ownPlaceholder = Code(known: .ownPlaceholder)
        /// The collapse id does not look like a keyed hash.
        package static let readableCollapseID = Code(known: .readableCollapseID)
        /// The payload does not fit into the largest bucket.
        package static let payloadTooLarge = Code(known: .payloadTooLarge)
        /// The push is longer than Apple accepts.
        package static let pushTooLarge = Code(known: .pushTooLarge)
        /// The push is longer than Apple accepts in the longest form that a client may re-encode it to.
        package static let growsWhenRewritten = Code(known: .growsWhenRewritten)
        /// The system reads pushes of this type before any of the app's code runs.
        package static let pushTypeNotSealable = Code(known: .pushTypeNotSealable)
        /// The push type is not one that Apple defines.
        package static let unknownPushType = Code(known: .unknownPushType)
        /// The topic is malformed, or does not fit the push type.
        package static let wrongTopic = Code(known: .wrongTopic)
        /// The priority is not one that Apple defines, or does not fit the push type.
        package static let wrongPriority = Code(known: .wrongPriority)
        /// The expiration is not a time in seconds since 1970.
        package static let wrongExpiration = Code(known: .wrongExpiration)
        /// The collapse id is empty or longer than 64 bytes.
        package static let wrongCollapseID = Code(known: .wrongCollapseID)
        /// The `apns-id` is not a UUID in the form that Apple writes.
        package static let wrongID = Code(known: .wrongID)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `clear-text`.
        package var description: String { known.rawValue }
    }
}

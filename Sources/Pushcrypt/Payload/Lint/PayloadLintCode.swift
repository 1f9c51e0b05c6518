extension PayloadLint {
    /// What is found, by name. More codes may come, so a `switch` over them needs a default.
    ///
    /// A code that sealing or opening gives too means the same here.
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

        /// Not one JSON object as the format takes it; the text names the byte.
        package static let malformedPayload = Code(known: .malformedPayload)
        /// No `aps` object.
        package static let missingAPS = Code(known: .missingAPS)
        /// A field of `aps` has a type or a value that Apple's documents do not allow.
        package static let invalidField = Code(known: .invalidField)
        /// A field is missing that the push of a Live Activity needs.
        package static let missingField = Code(known: .missingField)
        /// The system does not know the field, and the app does not get it from a sealed message.
        package static let unknownField = Code(known: .unknownField)
        /// A key at the top level that is kept for the format.
        package static let reservedKey = Code(known: .reservedKey)
        /// An alert without title, subtitle and body.
        package static let nothingToShow = Code(known: .nothingToShow)
        /// `mutable-content` is not the number 1.
        package static let extensionNotStarted = Code(known: .extensionNotStarted)
        /// An alert with `content-available`.
        package static let alsoWakesApp = Code(known: .alsoWakesApp)
        /// A background push without `content-available`.
        package static let appNotWoken = Code(known: .appNotWoken)
        /// A background push with what only an alert shows.
        package static let backgroundShows = Code(known: .backgroundShows)
        /// Without an entitlement of Apple's the field has no effect.
        package static let needsEntitlement = Code(known: .needsEntitlement)
        /// `ENCRYPTED_DATA` is not a string.
        package static let notEncrypted = Code(known: .notEncrypted)
        /// An envelope stands where no receiver looks for it.
        package static let misplacedEnvelope = Code(known: .misplacedEnvelope)
        /// `ENCRYPTED_DATA` is no envelope.
        package static let malformedEnvelope = Code(known: .malformedEnvelope)
        /// An envelope of a suite that this version does not know.
        package static let unsupportedSuite = Code(known: .unsupportedSuite)
        /// The push has no `ENCRYPTED_DATA`: the relay reads all of it.
        package static let notSealed = Code(known: .notSealed)
        /// A text that a person reads stands in the clear.
        package static let clearText = Code(known: .clearText)
        /// Another field of `aps` stands in the clear, and says something about the message.
        package static let clearField = Code(known: .clearField)
        /// A key of the app's own stands in the clear.
        package static let clearKey = Code(known: .clearKey)
        /// The title beside an envelope is not the standard one.
        package static let ownPlaceholder = Code(known: .ownPlaceholder)
        /// The collapse id does not look like a keyed hash.
        package static let readableCollapseID = Code(known: .readableCollapseID)
        /// The payload does not fit the largest bucket.
        package static let payloadTooLarge = Code(known: .payloadTooLarge)
        /// The push is longer than Apple takes.
        package static let pushTooLarge = Code(known: .pushTooLarge)
        /// The push is longer than Apple takes in the widest form that a client may write it in.
        package static let growsWhenRewritten = Code(known: .growsWhenRewritten)
        /// The system reads pushes of this type before any code of the app.
        package static let pushTypeNotSealable = Code(known: .pushTypeNotSealable)
        /// No push type of Apple's.
        package static let unknownPushType = Code(known: .unknownPushType)
        /// No topic, or not one for the push type.
        package static let wrongTopic = Code(known: .wrongTopic)
        /// No priority, or not one for the push type.
        package static let wrongPriority = Code(known: .wrongPriority)
        /// Not a time in seconds since 1970.
        package static let wrongExpiration = Code(known: .wrongExpiration)
        /// Longer than 64 bytes, or empty.
        package static let wrongCollapseID = Code(known: .wrongCollapseID)
        /// Not a UUID as Apple writes it.
        package static let wrongID = Code(known: .wrongID)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `clear-text`.
        package var description: String { known.rawValue }
    }
}

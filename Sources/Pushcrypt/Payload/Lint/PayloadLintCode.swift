extension PayloadLint {
    /// What is found, by name. More codes may come, so a `switch` over them needs a default.
    ///
    /// A code that sealing or opening gives too means the same here.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
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
        public static let malformedPayload = Code(known: .malformedPayload)
        /// No `aps` object.
        public static let missingAPS = Code(known: .missingAPS)
        /// A field of `aps` has a type or a value that Apple's documents do not allow.
        public static let invalidField = Code(known: .invalidField)
        /// A field is missing that the push of a Live Activity needs.
        public static let missingField = Code(known: .missingField)
        /// The system does not know the field, and the app does not get it from a sealed message.
        public static let unknownField = Code(known: .unknownField)
        /// A key at the top level that is kept for the format.
        public static let reservedKey = Code(known: .reservedKey)
        /// An alert without title, subtitle and body.
        public static let nothingToShow = Code(known: .nothingToShow)
        /// `mutable-content` is not the number 1.
        public static let extensionNotStarted = Code(known: .extensionNotStarted)
        /// An alert with `content-available`.
        public static let alsoWakesApp = Code(known: .alsoWakesApp)
        /// A background push without `content-available`.
        public static let appNotWoken = Code(known: .appNotWoken)
        /// A background push with what only an alert shows.
        public static let backgroundShows = Code(known: .backgroundShows)
        /// Without an entitlement of Apple's the field has no effect.
        public static let needsEntitlement = Code(known: .needsEntitlement)
        /// `ENCRYPTED_DATA` is not a string.
        public static let notEncrypted = Code(known: .notEncrypted)
        /// An envelope stands where no receiver looks for it.
        public static let misplacedEnvelope = Code(known: .misplacedEnvelope)
        /// `ENCRYPTED_DATA` is no envelope.
        public static let malformedEnvelope = Code(known: .malformedEnvelope)
        /// An envelope of a suite that this version does not know.
        public static let unsupportedSuite = Code(known: .unsupportedSuite)
        /// The push has no `ENCRYPTED_DATA`: the relay reads all of it.
        public static let notSealed = Code(known: .notSealed)
        /// A text that a person reads stands in the clear.
        public static let clearText = Code(known: .clearText)
        /// Another field of `aps` stands in the clear, and says something about the message.
        public static let clearField = Code(known: .clearField)
        /// A key of the app's own stands in the clear.
        public static let clearKey = Code(known: .clearKey)
        /// The title beside an envelope is not the standard one.
        public static let ownPlaceholder = Code(known: .ownPlaceholder)
        /// The collapse id does not look like a keyed hash.
        public static let readableCollapseID = Code(known: .readableCollapseID)
        /// The payload does not fit the largest bucket.
        public static let payloadTooLarge = Code(known: .payloadTooLarge)
        /// The push is longer than Apple takes.
        public static let pushTooLarge = Code(known: .pushTooLarge)
        /// The push is longer than Apple takes in the widest form that a client may write it in.
        public static let growsWhenRewritten = Code(known: .growsWhenRewritten)
        /// The system reads pushes of this type before any code of the app.
        public static let pushTypeNotSealable = Code(known: .pushTypeNotSealable)
        /// No push type of Apple's.
        public static let unknownPushType = Code(known: .unknownPushType)
        /// No topic, or not one for the push type.
        public static let wrongTopic = Code(known: .wrongTopic)
        /// No priority, or not one for the push type.
        public static let wrongPriority = Code(known: .wrongPriority)
        /// Not a time in seconds since 1970.
        public static let wrongExpiration = Code(known: .wrongExpiration)
        /// Longer than 64 bytes, or empty.
        public static let wrongCollapseID = Code(known: .wrongCollapseID)
        /// Not a UUID as Apple writes it.
        public static let wrongID = Code(known: .wrongID)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `clear-text`.
        public var description: String { known.rawValue }
    }
}

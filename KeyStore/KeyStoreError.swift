public import Pushcrypt

/// An error of a key store. Errors are equal if their codes are.
///
/// After any error, the store is as it was before the call. If the disk fails during commit, the outcome is unknown until it
/// recovers.
public struct KeyStoreError: CodedError {
    /// The reason for the error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case storeMissing = "store-missing"
            case storeExists = "store-exists"
            case storeKeyMissing = "store-key-missing"
            case passphraseNeeded = "passphrase-needed"
            case invalidPassphrase = "invalid-passphrase"
            case wrongPassphrase = "wrong-passphrase"
            case newerVersion = "newer-version"
            case olderVersion = "older-version"
            case corruptStore = "corrupt-store"
            case storeLocked = "store-locked"
            case missingEntitlement = "missing-entitlement"
            case storeBusy = "store-busy"
            case diskFull = "disk-full"
            case inputOutput = "input-output"
            case invalidName = "invalid-name"
            case unknownName = "unknown-name"
            case ambiguousName = "ambiguous-name"
            case nameTaken = "name-taken"
            case keyIDTaken = "key-id-taken"
            case generationRollback = "generation-rollback"
            case generationTooHigh = "generation-too-high"
            case topicMismatch = "topic-mismatch"
            case userMismatch = "user-mismatch"
            case keyTaken = "key-taken"
            case suiteDowngrade = "suite-downgrade"
            case unsupportedSuite = "unsupported-suite"
            case badRecordSignature = "bad-record-signature"
            case staleRecord = "stale-record"
            case futureTime = "future-time"
            case unknownDevice = "unknown-device"
            case removedDevice = "removed-device"
            case providerAlreadyPinned = "provider-already-pinned"
            case providerOffline = "provider-offline"
            case staleStore = "stale-store"
            case rotationRefused = "rotation-refused"
            case malformedCertificate = "malformed-certificate"
            case weakKey = "weak-key"
            case badCertificateSignature = "bad-certificate-signature"
            case certificateConflict = "certificate-conflict"
            case wrongCertificate = "wrong-certificate"
            case malformedRequest = "malformed-request"
            case tooManyPins = "too-many-pins"
            case epochsExhausted = "epochs-exhausted"
            case responseTooLarge = "response-too-large"
        }

        private let known: Known

        /// No store exists in this directory.
        public static let storeMissing = Code(known: .storeMissing)
        /// A store, a replay file, or the file of a new backup already exists.
        public static let storeExists = Code(known: .storeExists)
        /// The database exists, but not the file `store.key` that opens it.
        public static let storeKeyMissing = Code(known: .storeKeyMissing)
        /// The store needs a passphrase, and none was given.
        public static let passphraseNeeded = Code(known: .passphraseNeeded)
        /// The passphrase is empty or too long.
        public static let invalidPassphrase = Code(known: .invalidPassphrase)
        /// The passphrase, or the file `store.key`, is not the one the store was created with.
        public static let wrongPassphrase = Code(known: .wrongPassphrase)
        /// The store was written by a newer version of this program.
        public static let newerVersion = Code(known: .newerVersion)
        /// The store was written by a version before 1.0, with a layout that is no longer read.
        public static let olderVersion = Code(known: .olderVersion)
        /// Stored data is damaged, or was changed by someone without the store key; a damaged row is never used.
        public static let corruptStore = Code(known: .corruptStore)
        /// The device has not been unlocked since it started; until then the Keychain returns nothing.
        public static let storeLocked = Code(known: .storeLocked)
        /// The process may not use the Keychain access group that holds the keys.
        public static let missingEntitlement = Code(known: .missingEntitlement)
        /// Another process held the store for too long.
        public static let storeBusy = Code(known: .storeBusy)
        /// The disk is full.
        public static let diskFull = Code(known: .diskFull)
        /// The system refused to read or write.
        public static let inputOutput = Code(known: .inputOutput)
        /// A name or a device id is empty, too long, or has control or invisible characters; a device id starts like a public
        /// key, or has only spaces; a setting is too long.
        public static let invalidName = Code(known: .invalidName)
        /// No key has this name.
        public static let unknownName = Code(known: .unknownName)
        /// The store has several names and no default, and none was given.
        public static let ambiguousName = Code(known: .ambiguousName)
        /// A key already has this name.
        public static let nameTaken = Code(known: .nameTaken)
        /// The store already holds this key, or one with its id.
        public static let keyIDTaken = Code(known: .keyIDTaken)
        /// A device's registration is older than the stored one, or contradicts it.
        public static let generationRollback = Code(known: .generationRollback)
        /// A device's registration has a first generation above 1,024, or one more than 1,024 above the stored one.
        public static let generationTooHigh = Code(known: .generationTooHigh)
        /// The same key or device is stored for another app.
        public static let topicMismatch = Code(known: .topicMismatch)
        /// The device is stored for another user.
        public static let userMismatch = Code(known: .userMismatch)
        /// Another device holds this public key, and is not known to be the same user's.
        public static let keyTaken = Code(known: .keyTaken)
        /// The device has a post-quantum key, and the new one is of suite 1.
        public static let suiteDowngrade = Code(known: .suiteDowngrade)
        /// This build cannot compute with a key of this suite.
        public static let unsupportedSuite = Code(known: .unsupportedSuite)
        /// A record is not signed by the device's update key, or not for this app and channel.
        public static let badRecordSignature = Code(known: .badRecordSignature)
        /// The store has a later record of the device.
        public static let staleRecord = Code(known: .staleRecord)
        /// A change to a device has a time after the year 2100: it is not in milliseconds.
        package static let futureTime = Code(known: .futureTime)
        /// No device has this id.
        public static let unknownDevice = Code(known: .unknownDevice)
        /// The device was removed, and has not registered since.
        package static let removedDevice = Code(known: .removedDevice)
        /// The account has another pin already.
        package static let providerAlreadyPinned = Code(known: .providerAlreadyPinned)
        /// The provider key's secret is not in this store.
        public static let providerOffline = Code(known: .providerOffline)
        /// A device has reported a certificate that this store never issued: it is an old copy, or the provider key was
        /// stolen. A warning: sealing goes on.
        package static let staleStore = Code(known: .staleStore)
        /// A rotation is impossible, or would be of no use.
        public static let rotationRefused = Code(known: .rotationRefused)
        /// Not a certificate.
        package static let malformedCertificate = Code(known: .malformedCertificate)
        /// The signing key of a certificate is weak, or the provider key itself.
        package static let weakKey = Code(known: .weakKey)
        /// The provider key did not sign the certificate for this app.
        public static let badCertificateSignature = Code(known: .badCertificateSignature)
        /// Two certificates have one epoch.
        package static let certificateConflict = Code(known: .certificateConflict)
        /// The certificate is not the one that was requested, or none that may follow the last.
        package static let wrongCertificate = Code(known: .wrongCertificate)
        /// Not a request for a certificate.
        package static let malformedRequest = Code(known: .malformedRequest)
        /// An account has two pins already.
        public static let tooManyPins = Code(known: .tooManyPins)
        /// The last epoch was 2^32 − 1: only another provider key can go on.
        public static let epochsExhausted = Code(known: .epochsExhausted)
        /// A response to a notification is too large for the file of kept responses.
        package static let responseTooLarge = Code(known: .responseTooLarge)

        fileprivate static let ofOneRow: Set<Code> = [
            .invalidName, .generationRollback, .generationTooHigh, .topicMismatch, .userMismatch, .keyTaken,
            .suiteDowngrade, .unsupportedSuite, .badRecordSignature, .staleRecord, .futureTime, .unknownDevice,
            .removedDevice,
        ]

        init?(_ code: TrustError.Code) {
            guard let known = Known(rawValue: code.description) else { return nil }
            self.known = known
        }

        private init(known: Known) { self.known = known }

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `store-busy`.
        public var description: String { known.rawValue }
    }

    /// The reason.
    public let code: Code
    /// A description of what happened, and what to do; never holds key bytes.
    public let description: String

    /// Whether the error concerns only one row of many.
    package let concernsOneRow: Bool

    package init(_ code: Code, _ description: String) {
        self.init(code, description, concernsOneRow: Code.ofOneRow.contains(code))
    }

    init(_ code: Code, _ description: String, concernsOneRow: Bool) {
        self.code = code
        self.description = description
        self.concernsOneRow = concernsOneRow
    }
}

extension KeyStoreError {
    static var unsupportedSuite: KeyStoreError { KeyStoreError(.unsupportedSuite, CipherSuite.requirement) }

    /// The refusal that tells a phone why its registration is not stored; nil if the record is not the reason, but the
    /// store or the server.
    public var refusal: RegistrationReply.Refusal? {
        switch code {
        case .generationRollback: .generationRollback
        case .generationTooHigh: .generationTooHigh
        case .topicMismatch: .topicMismatch
        case .userMismatch: .userMismatch
        case .keyTaken: .keyTaken
        case .suiteDowngrade: .suiteDowngrade
        case .badRecordSignature: .badRecordSignature
        case .staleRecord: .staleRecord
        case .unknownDevice: .unknownDevice
        case .unsupportedSuite: .unsupportedSuite
        default: nil
        }
    }
}

/// Gives an error of the trust the same code and text as an error of the store.
func withTrustErrors<R>(_ body: () throws(TrustError) -> R) throws(KeyStoreError) -> R {
    do throws(TrustError) {
        return try body()
    } catch {
        guard let code = KeyStoreError.Code(error.code) else { preconditionFailure("a code that the store does not have") }
        throw KeyStoreError(code, error.description)
    }
}

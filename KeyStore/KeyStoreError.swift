public import Pushcrypt

/// An error of a key store. Errors are equal if their codes are.
///
/// After any error, the store is as it was before the call. If the disk fails during commit, the outcome is unknown until it
/// recovers.
public struct KeyStoreError: CodedError {
    /// The reason for the error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as programs read it, for example `store-busy`.
        public let description: String

        init(_ code: String) { description = code }

        /// No store exists in this directory.
        public static let storeMissing = Code("store-missing")
        /// A store, a replay file, or the file of a new backup already exists.
        public static let storeExists = Code("store-exists")
        /// The database exists, but not the file `store.key` that opens it.
        package static let storeKeyMissing = Code("store-key-missing")
        /// The store needs a passphrase, and none was given.
        public static let passphraseNeeded = Code("passphrase-needed")
        /// The passphrase is empty or too long.
        package static let invalidPassphrase = Code("invalid-passphrase")
        /// The passphrase, or the file `store.key`, is not the one the store was created with.
        public static let wrongPassphrase = Code("wrong-passphrase")
        /// The store was written by a newer version of this program.
        package static let newerVersion = Code("newer-version")
        /// The store was written by a version before 1.0, with a layout that is no longer read.
        package static let olderVersion = Code("older-version")
        /// Stored data is damaged, or was changed by someone without the store key; a damaged row is never used.
        package static let corruptStore = Code("corrupt-store")
        /// The device has not been unlocked since it started; until then the Keychain returns nothing.
        public static let storeLocked = Code("store-locked")
        /// The process may not use the Keychain access group that holds the keys.
        package static let missingEntitlement = Code("missing-entitlement")
        /// Another process held the store for too long.
        public static let storeBusy = Code("store-busy")
        /// The disk is full.
        public static let diskFull = Code("disk-full")
        /// The system refused to read or write.
        package static let inputOutput = Code("input-output")
        /// A name or a device id is empty, too long, or has control or invisible characters; a device id starts like a public
        /// key, or has only spaces; a setting is too long.
        package static let invalidName = Code("invalid-name")
        /// No key has this name.
        public static let unknownName = Code("unknown-name")
        /// The store has several names and no default, and none was given.
        package static let ambiguousName = Code("ambiguous-name")
        /// A key already has this name.
        package static let nameTaken = Code("name-taken")
        /// The store already holds this key, or one with its id.
        package static let keyIDTaken = Code("key-id-taken")
        /// A device's registration is older than the stored one, or contradicts it.
        package static let generationRollback = Code("generation-rollback")
        /// A device's registration has a first generation above 1,024, or one more than 1,024 above the stored one.
        package static let generationTooHigh = Code("generation-too-high")
        /// The same key or device is stored for another app.
        package static let topicMismatch = Code("topic-mismatch")
        /// The device is stored for another user.
        package static let userMismatch = Code("user-mismatch")
        /// Another device holds this public key, and is not known to be the same user's.
        package static let keyTaken = Code("key-taken")
        /// The device has a post-quantum key, and the new one is of suite 1.
        package static let suiteDowngrade = Code("suite-downgrade")
        /// This build cannot compute with a key of this suite.
        package static let unsupportedSuite = Code("unsupported-suite")
        /// A record is not signed by the device's update key, or not for this app and channel.
        package static let badRecordSignature = Code("bad-record-signature")
        /// The store has a later record of the device.
        package static let staleRecord = Code("stale-record")
        /// A change to a device has a time after the year 2100: it is not in milliseconds.
        package static let futureTime = Code("future-time")
        /// No device has this id.
        public static let unknownDevice = Code("unknown-device")
        /// The device was removed, and has not registered since.
        package static let removedDevice = Code("removed-device")
        /// The account has another pin already.
        package static let providerAlreadyPinned = Code("provider-already-pinned")
        /// The provider key's secret is not in this store.
        package static let providerOffline = Code("provider-offline")
        /// A device has reported a certificate that this store never issued: it is an old copy, or the provider key was
        /// stolen. A warning: sealing goes on.
        package static let staleStore = Code("stale-store")
        /// A rotation is impossible, or would be of no use.
        package static let rotationRefused = Code("rotation-refused")
        /// Not a certificate.
        package static let malformedCertificate = Code("malformed-certificate")
        /// The signing key of a certificate is weak, or the provider key itself.
        package static let weakKey = Code("weak-key")
        /// The provider key did not sign the certificate for this app.
        package static let badCertificateSignature = Code("bad-certificate-signature")
        /// Two certificates have one epoch.
        package static let certificateConflict = Code("certificate-conflict")
        /// The certificate is not the one that was requested, or none that may follow the last.
        package static let wrongCertificate = Code("wrong-certificate")
        /// Not a request for a certificate.
        package static let malformedRequest = Code("malformed-request")
        /// An account has two pins already.
        package static let tooManyPins = Code("too-many-pins")
        /// The last epoch was 2^32 − 1: only another provider key can go on.
        package static let epochsExhausted = Code("epochs-exhausted")
        /// A response to a notification is too large for the file of kept responses.
        package static let responseTooLarge = Code("response-too-large")

        fileprivate static let ofOneRow: Set<Code> = [
            .invalidName, .generationRollback, .generationTooHigh, .topicMismatch, .userMismatch, .keyTaken,
            .suiteDowngrade, .unsupportedSuite, .badRecordSignature, .staleRecord, .futureTime, .unknownDevice,
            .removedDevice,
        ]

        /// Every code.
        package static let allCases: [Code] = [
            .storeMissing, .storeExists, .storeKeyMissing, .passphraseNeeded, .invalidPassphrase, .wrongPassphrase,
            .newerVersion, .olderVersion, .corruptStore, .storeLocked, .missingEntitlement, .storeBusy, .diskFull,
            .inputOutput, .invalidName, .unknownName, .ambiguousName, .nameTaken, .keyIDTaken, .generationRollback,
            .generationTooHigh, .topicMismatch, .userMismatch, .keyTaken, .suiteDowngrade, .unsupportedSuite,
            .badRecordSignature, .staleRecord, .futureTime, .unknownDevice, .removedDevice, .providerAlreadyPinned,
            .providerOffline, .staleStore, .rotationRefused, .malformedCertificate, .weakKey, .badCertificateSignature,
            .certificateConflict, .wrongCertificate, .malformedRequest, .tooManyPins, .epochsExhausted,
            .responseTooLarge,
        ]
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

/// Turns an error of the trust into one of the store, with the same code and text.
func withTrustErrors<R>(_ body: () throws(TrustError) -> R) throws(KeyStoreError) -> R {
    do throws(TrustError) {
        return try body()
    } catch {
        throw KeyStoreError(KeyStoreError.Code(error.code.description), error.description)
    }
}

public import Pushcrypt

/// A key store that cannot do what was asked. Equal when the codes are equal.
///
/// Whatever is thrown, the store is as it was before the call. Only a disk that fails at the end of a change, and goes on
/// failing, leaves open until it answers again whether the change is done.
public struct KeyStoreError: CodedError {
    /// Why a key store cannot do what was asked.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case storeMissing = "store-missing"
            case storeExists = "store-exists"
            case unsafeStoreFile = "unsafe-store-file"
            case storeKeyMissing = "store-key-missing"
            case passphraseNeeded = "passphrase-needed"
            case invalidPassphrase = "invalid-passphrase"
            case wrongPassphrase = "wrong-passphrase"
            case newerVersion = "newer-version"
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
            case topicMismatch = "topic-mismatch"
            case futureTime = "future-time"
            case unknownDevice = "unknown-device"
            case removedDevice = "removed-device"
            case senderAlreadyTrusted = "sender-already-trusted"
            case senderSuperseded = "sender-superseded"
            case tooManyAnnouncements = "too-many-announcements"
            case rotationRefused = "rotation-refused"
            case rotationConflict = "rotation-conflict"
            case responseTooLarge = "response-too-large"
        }

        private let known: Known

        /// There is no store in this directory.
        public static let storeMissing = Code(known: .storeMissing)
        /// There is a store, or a replay file, already.
        public static let storeExists = Code(known: .storeExists)
        /// A file of the store, or a directory above it, belongs to or is open to somebody else, or is a link.
        public static let unsafeStoreFile = Code(known: .unsafeStoreFile)
        /// The database is there, the file `store.key` that opens it is not.
        public static let storeKeyMissing = Code(known: .storeKeyMissing)
        /// The store is opened by a passphrase, and none was given.
        public static let passphraseNeeded = Code(known: .passphraseNeeded)
        /// A passphrase that is empty or too long.
        public static let invalidPassphrase = Code(known: .invalidPassphrase)
        /// The passphrase, or the file `store.key`, is not the one the store was made with.
        public static let wrongPassphrase = Code(known: .wrongPassphrase)
        /// A newer version of this program has written the store.
        public static let newerVersion = Code(known: .newerVersion)
        /// What is stored is damaged or was changed by someone without the store key; the damaged row is never used.
        public static let corruptStore = Code(known: .corruptStore)
        /// The device was not unlocked since it started, and the Keychain gives nothing before that.
        public static let storeLocked = Code(known: .storeLocked)
        /// The process may not use the Keychain access group that holds the keys.
        public static let missingEntitlement = Code(known: .missingEntitlement)
        /// Another process held the store for too long.
        public static let storeBusy = Code(known: .storeBusy)
        /// No room is left on the disk.
        public static let diskFull = Code(known: .diskFull)
        /// The system refuses to read or write.
        public static let inputOutput = Code(known: .inputOutput)
        /// A name, a device id or the name of a setting that is empty, too long or has control characters; a device id that
        /// begins as a public key does, or is only spaces; a setting that is too long.
        public static let invalidName = Code(known: .invalidName)
        /// No key has this name.
        public static let unknownName = Code(known: .unknownName)
        /// Several names, no default among them, and none was given.
        public static let ambiguousName = Code(known: .ambiguousName)
        /// A key has this name already.
        public static let nameTaken = Code(known: .nameTaken)
        /// The store holds a key with this id, or this very key, already.
        public static let keyIDTaken = Code(known: .keyIDTaken)
        /// A device's registration is older than, or contradicts, the one that is held.
        public static let generationRollback = Code(known: .generationRollback)
        /// The same key or device is held for another app.
        public static let topicMismatch = Code(known: .topicMismatch)
        /// What is said of a device has a time that no clock gives: more than a day ahead.
        public static let futureTime = Code(known: .futureTime)
        /// No device has this id.
        public static let unknownDevice = Code(known: .unknownDevice)
        /// The device was removed, and has not registered since.
        public static let removedDevice = Code(known: .removedDevice)
        /// Another key is trusted under this name.
        public static let senderAlreadyTrusted = Code(known: .senderAlreadyTrusted)
        /// The key was superseded here before, and trust never goes back.
        public static let senderSuperseded = Code(known: .senderSuperseded)
        /// A message cannot carry one rotation statement more.
        public static let tooManyAnnouncements = Code(known: .tooManyAnnouncements)
        /// A rotation statement that cannot be issued or is not accepted.
        public static let rotationRefused = Code(known: .rotationRefused)
        /// A second, different statement for a superseded key: evidence that the key was stolen.
        public static let rotationConflict = Code(known: .rotationConflict)
        /// A response to a notification that is longer than the file for waiting ones takes.
        public static let responseTooLarge = Code(known: .responseTooLarge)

        fileprivate static let ofOneRow: Set<Code> = [
            .invalidName, .generationRollback, .topicMismatch, .futureTime, .unknownDevice, .removedDevice,
        ]

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `store-busy`.
        public var description: String { known.rawValue }
    }

    /// Why.
    public let code: Code
    /// What happened, and what to do next; never holds key bytes.
    public let description: String

    /// Whether it is about one row of many, and says nothing of the others.
    let concernsOneRow: Bool

    package init(_ code: Code, _ description: String) {
        self.init(code, description, concernsOneRow: Code.ofOneRow.contains(code))
    }

    init(_ code: Code, _ description: String, concernsOneRow: Bool) {
        self.code = code
        self.description = description
        self.concernsOneRow = concernsOneRow
    }
}

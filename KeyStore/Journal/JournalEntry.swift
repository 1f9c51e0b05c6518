public import Pushcrypt

/// What the delivery journal says of one push: when, which, what came of it, with which key, how long it took.
///
/// There is no place in it for anything that a person has written or a sender has sealed.
public struct JournalEntry: Hashable, Sendable {
    /// How the device key stood that the push was sealed to.
    public enum KeyState: String, CaseIterable, Sendable, CustomStringConvertible {
        /// The provider seals to it.
        case active
        /// It opens, and the provider has not acknowledged it yet.
        case pending
        /// Another has taken its place, and its end date is not reached.
        case retiring
        /// The device has not this key; after a log-out it may have none.
        case unknown
        /// The device has no keys.
        case missing
        /// The device was not unlocked since it started.
        case locked
        /// The device's keys are damaged.
        case corrupt
        /// The keys could not be read for another reason.
        case unreadable
        /// No key was looked for: the push ended before.
        case none

        /// The state of a key that was found.
        public init(_ state: DeviceKeyRecord.State) {
            switch state {
            case .active: self = .active
            case .pending: self = .pending
            case .retiring: self = .retiring
            }
        }

        /// What an error of the key store says of its keys.
        public init(_ error: KeyStoreError) {
            switch error.code {
            case .storeMissing, .storeKeyMissing: self = .missing
            case .storeLocked: self = .locked
            case .corruptStore: self = .corrupt
            default: self = .unreadable
            }
        }

        /// The state as programs read it.
        public var description: String { rawValue }
    }

    /// Stands for what is no code.
    public static let unknownCode = "unknown"
    private static let longestCode = 40

    /// When the push arrived.
    public let time: Timestamp
    /// Names the envelope as the provider's log does; nil for a push that has none.
    public let fingerprint: EnvelopeFingerprint?
    /// What came of it: the code of an error, or a word for a delivery.
    public let code: String
    /// How the device key stood.
    public let keyState: KeyState
    /// From the arrival to the delivery.
    public let milliseconds: UInt64

    /// Makes an entry. A code has 1 to 40 lower-case letters, digits and hyphens; anything else becomes `unknown`, so that no
    /// text of a notification gets into the journal by mistake.
    public init(
        time: Timestamp, fingerprint: EnvelopeFingerprint?, code: String, keyState: KeyState, milliseconds: UInt64
    ) {
        self.time = min(time, .maximum)
        self.fingerprint = fingerprint
        self.code = Self.isCode(code) ? code : Self.unknownCode
        self.keyState = keyState
        self.milliseconds = min(milliseconds, Timestamp.maximum.milliseconds)
    }

    static func isCode(_ text: String) -> Bool {
        (1...longestCode).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

public import Pushcrypt
internal import PushcryptKeyStore

/// What `Enrolment` says at a launch.
public enum Reconciliation: Sendable {
    /// Do this, in this order; nothing when there are no steps.
    case plan(EnrolmentPlan)
    /// Nothing can be done now, and nothing is wrong: try again at the next launch, or after the first unlock.
    case later(EnrolmentObstacle)
    /// Nothing can be done until the app, its entitlements or its store change. Nothing was deleted or made.
    case blocked(EnrolmentObstacle)
}

/// What is to be done for one account.
public struct EnrolmentPlan: Sendable, CustomStringConvertible {
    /// One thing to do.
    public enum Step: Hashable, Sendable {
        /// Delete the keys and pins that an earlier installation of the app has left.
        case purgeLeftovers
        /// Tell the provider to forget a device: one that was logged out, or that it holds under an id which this
        /// installation has given up.
        case withdraw(device: String)
        /// Make the pending key active, which the provider has acknowledged before.
        case confirm(KeyID)
        /// Register for the first time, or again because no reply has ever come.
        case register
        /// Register again, and why.
        case registerAgain([Reason])
        /// Delete the keys whose grace has ended.
        case purgeRetired
    }

    /// Why a registration is repeated.
    public enum Reason: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// The keys are gone and the state is there: the app was restored to another phone from a backup.
        case keysLost = "keys-lost"
        /// The key is older than the policy lets it become: another one is made.
        case keyIsOld = "key-is-old"
        /// The provider has not acknowledged the key that the device has now.
        case keyNotAcknowledged = "key-not-acknowledged"
        /// The device believes another sender key than it last reported.
        case senderChanged = "sender-changed"
        /// APNs has given another device token.
        case tokenChanged = "token-changed"
        /// Another version of the app runs, a later or an earlier one.
        case appVersionChanged = "app-version-changed"
        /// The person has turned alerts on or off.
        case alertsChanged = "alerts-changed"
        /// The provider may have lost the last one.
        case timePassed = "time-passed"

        /// The reason as programs read it.
        public var description: String { rawValue }
    }

    /// What the app should know, and nothing is done about.
    public enum Notice: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// Alerts are off: nothing is shown, and the service extension does not run.
        case alertsOff = "alerts-off"
        /// The state was damaged: every account registers under a new device id, and the provider may push to the old
        /// one until APNs refuses its token.
        case stateDamaged = "damaged-enrolment"

        /// The notice as programs read it.
        public var description: String { rawValue }
    }

    /// What to do, in this order.
    public internal(set) var steps: [Step] = []
    /// What the app should know.
    public internal(set) var notices: [Notice] = []

    /// The state as it was read, or a new one.
    var state: EnrolmentState
    let circumstances: EnrolmentCircumstances

    init(_ state: EnrolmentState, _ circumstances: EnrolmentCircumstances) {
        self.state = state
        self.circumstances = circumstances
    }

    /// For the developer's log, for example `register-again(sender-changed)`.
    public var description: String {
        let words = steps.map(\.description) + notices.map { "notice(\($0))" }
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
}

extension EnrolmentPlan.Step: CustomStringConvertible {
    /// For the developer's log, for example `confirm(654db668)`.
    public var description: String {
        switch self {
        case .purgeLeftovers: "purge-leftovers"
        case .withdraw(let device): "withdraw(\(device))"
        case .confirm(let key): "confirm(\(key))"
        case .register: "register"
        case .registerAgain(let reasons): "register-again(\(reasons.map(\.rawValue).joined(separator: ", ")))"
        case .purgeRetired: "purge-retired"
        }
    }
}

/// Why nothing can be done.
public struct EnrolmentObstacle: Hashable, Sendable, CustomStringConvertible {
    /// What programs read: the code of a `KeyStoreError` or an `EnrolmentStateError`, or `unreadable-enrolment`.
    public let code: String
    /// What happened, and what to do.
    public let description: String

    init(_ error: KeyStoreError) {
        code = error.code.description
        description = error.description
    }

    init(_ error: EnrolmentStateError) {
        code = error.code.description
        description = error.description
    }

    private init(code: String, description: String) {
        self.code = code
        self.description = description
    }

    /// The code of a state that cannot be read now.
    public static let unreadableCode = "unreadable-enrolment"

    static let unreadableState = EnrolmentObstacle(
        code: unreadableCode,
        description: "the enrolment state cannot be read now; it is asked for again when the phone is unlocked")
}

public import Pushcrypt
internal import PushcryptKeyStore

/// The answer of `Enrolment` at a launch.
public enum Reconciliation: Sendable {
    /// Do this, in this order; nothing if there are no steps.
    case plan(EnrolmentPlan)
    /// Nothing can be done now, and nothing is wrong: try again at the next launch, or after the first unlock.
    case later(EnrolmentObstacle)
    /// Nothing can be done until the app, its entitlements or its store change. Nothing was deleted or generated.
    case blocked(EnrolmentObstacle)
}

/// The steps to take for one account.
public struct EnrolmentPlan: Sendable, CustomStringConvertible {
    /// One step.
    public enum Step: Hashable, Sendable {
        /// Delete the keys and pins left by an earlier installation of the app.
        case purgeLeftovers
        /// Tell the provider to forget a device: one that was logged out, or one under an id that this installation no
        /// longer uses.
        case withdraw(device: String)
        /// Pin this built-in sender key instead of one that is not built in, which is no longer trusted.
        case replaceSender(KeyID)
        /// Trust no sender: a recovery key that is not built in has revoked the built-in key, so that only another
        /// release of the app can bring one.
        case removeProvider(KeyID)
        /// Trust the built-in recovery keys, and no others.
        case replaceRecoveryKeys
        /// Activate the pending key, which the provider has already acknowledged.
        case confirm(KeyID)
        /// Register for the first time, or again because no reply has ever arrived.
        case register
        /// Register again, for these reasons.
        case registerAgain([Reason])
        /// Delete the keys whose grace period has ended.
        case purgeRetired
    }

    /// A reason to register again.
    public enum Reason: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// The keys are gone but the state exists: the app was restored to another phone from a backup.
        case keysLost = "keys-lost"
        /// The key is older than the policy allows: another one is generated.
        case keyIsOld = "key-is-old"
        /// The provider permits a post-quantum key, and this build has the suite: such a key is generated.
        case postQuantumPermitted = "post-quantum-permitted"
        /// The provider has not acknowledged the device's current key.
        case keyNotAcknowledged = "key-not-acknowledged"
        /// The device trusts another sender key than it last reported.
        case providerChanged = "sender-changed"
        /// The device has other recovery keys of its sender than it last reported.
        case recoveryChanged = "recovery-changed"
        /// APNs has issued another device token.
        case tokenChanged = "token-changed"
        /// Another version of the app is running, a later or an earlier one.
        case appVersionChanged = "app-version-changed"
        /// The user has turned alerts on or off.
        case alertsChanged = "alerts-changed"
        /// The provider may have lost the last registration.
        case timePassed = "time-passed"

        /// The reason as programs read it.
        public var description: String { rawValue }
    }

    /// Information for the app that requires no step.
    public enum Notice: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// Alerts are off: nothing is shown, and the service extension does not run.
        case alertsOff = "alerts-off"
        /// The pinned sender key was neither built into the app nor reached from such a key: a built-in one replaces
        /// it. Expected once after the app has changed from ``FirstTrust/reply`` or to a new key; otherwise someone has
        /// controlled the channel to the provider.
        ///
        /// With ``Step/removeProvider(_:)`` none is left.
        case providerReplaced = "sender-replaced"
        /// The state was damaged: every account registers under a new device id, and the provider may push to the old
        /// one until APNs refuses its token.
        case stateDamaged = "damaged-enrolment"

        /// The notice as programs read it.
        public var description: String { rawValue }
    }

    /// The steps, in this order.
    public internal(set) var steps: [Step] = []
    /// Information for the app.
    public internal(set) var notices: [Notice] = []

    /// The state as read, or a new one.
    var state: EnrolmentState
    let circumstances: EnrolmentCircumstances

    init(_ state: EnrolmentState, _ circumstances: EnrolmentCircumstances) {
        self.state = state
        self.circumstances = circumstances
    }

    /// A description for the developer's log, for example `register-again(sender-changed)`.
    public var description: String {
        let words = steps.map(\.description) + notices.map { "notice(\($0))" }
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
}

extension EnrolmentPlan.Step: CustomStringConvertible {
    /// A description for the developer's log, for example `confirm(654db668)`.
    public var description: String {
        switch self {
        case .purgeLeftovers: "purge-leftovers"
        case .withdraw(let device): "withdraw(\(device))"
        case .replaceSender(let key): "replace-sender(\(key))"
        case .removeProvider(let key): "remove-sender(\(key))"
        case .replaceRecoveryKeys: "replace-recovery-keys"
        case .confirm(let key): "confirm(\(key))"
        case .register: "register"
        case .registerAgain(let reasons): "register-again(\(reasons.map(\.rawValue).joined(separator: ", ")))"
        case .purgeRetired: "purge-retired"
        }
    }
}

/// The reason nothing can be done.
public struct EnrolmentObstacle: Hashable, Sendable, CustomStringConvertible {
    /// The code as programs read it: that of a `KeyStoreError` or an `EnrolmentStateError`, or `unreadable-enrolment`.
    public let code: String
    /// A description of what happened, and what to do.
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

    /// The code for a state that cannot be read now.
    package static let unreadableCode = "unreadable-enrolment"

    static let unreadableState = EnrolmentObstacle(
        code: unreadableCode,
        description: "the enrolment state cannot be read now; it is read again when the phone is unlocked")
}

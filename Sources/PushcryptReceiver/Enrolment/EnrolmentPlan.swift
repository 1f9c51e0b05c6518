package import Pushcrypt
package import PushcryptKeyStore

/// The answer of `Enrolment` at a launch.
package enum Reconciliation: Sendable {
    /// Do this, in this order; nothing if there are no steps.
    case plan(EnrolmentPlan)
    /// Nothing can be done now, and nothing is wrong: try again at the next launch, or after the first unlock.
    case later(EnrolmentObstacle)
    /// Nothing can be done until the app, its entitlements or its store change. Nothing was deleted or generated.
    case blocked(EnrolmentObstacle)
}

/// The steps to take for one account.
package struct EnrolmentPlan: Sendable, CustomStringConvertible {
    /// One step.
    package enum Step: Hashable, Sendable {
        /// Delete the keys and pins left by an earlier installation of the app.
        case purgeLeftovers
        /// Tell the provider that a device has ended: one that was logged out, or one under an id that this installation no
        /// longer uses.
        case end(device: String)
        /// Pin these built-in provider keys, with their certificates, and no others.
        case pin([KeyID])
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
    package enum Reason: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// The keys are gone but the state exists: the app was restored to another phone from a backup.
        case keysLost = "keys-lost"
        /// The key is older than the policy allows: another one is generated.
        case keyIsOld = "key-is-old"
        /// The provider permits a post-quantum key, and this build has the suite: such a key is generated.
        case postQuantumPermitted = "post-quantum-permitted"
        /// The provider has not acknowledged the device's current key.
        case keyNotAcknowledged = "key-not-acknowledged"
        /// The account trusts another provider key than it last reported.
        case providerChanged = "provider-changed"
        /// APNs has issued another device token, or one for another environment.
        case tokenChanged = "token-changed"
        /// The relay has issued another grant.
        case grantChanged = "grant-changed"
        /// Another version of the app is running, a later or an earlier one.
        case appVersionChanged = "app-version-changed"
        /// The user has turned alerts on or off.
        case alertsChanged = "alerts-changed"
        /// The provider may have lost the last registration.
        case timePassed = "time-passed"

        /// The reason as programs read it.
        package var description: String { rawValue }
    }

    /// Information for the app that requires no step.
    package enum Notice: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// Alerts are off: nothing is shown, and the service extension does not run.
        case alertsOff = "alerts-off"
        /// The account trusted a key that came in a reply, and a built-in one takes its place. Expected once after the app
        /// has changed from ``FirstTrust/firstReply`` to another key; otherwise someone has controlled the channel to the
        /// provider.
        case providerReplaced = "provider-replaced"
        /// The built-in certificate contradicts one of the same epoch that the phone has accepted: the provider key may be
        /// stolen.
        case certificateConflict = "certificate-conflict"
        /// The state was damaged: every account registers under a new device id, and the provider may push to the old
        /// one until APNs refuses its token.
        case stateDamaged = "damaged-enrolment"
        /// The provider has no such device, or its record is not this phone's: pair or log in again.
        case pairAgain = "pair-again"
        /// The server uses no relay, and the app gives its token to its relay alone: the server cannot push.
        case noPushKey = "no-push-key"

        /// The notice as programs read it.
        package var description: String { rawValue }
    }

    /// The steps, in this order.
    package internal(set) var steps: [Step] = []
    /// Information for the app.
    package internal(set) var notices: [Notice] = []

    /// The state as read, or a new one.
    var state: EnrolmentState
    let circumstances: EnrolmentCircumstances

    init(_ state: EnrolmentState, _ circumstances: EnrolmentCircumstances) {
        self.state = state
        self.circumstances = circumstances
    }

    /// Registers although nothing has changed: the user pairs the account again.
    package mutating func registerInAnyCase() {
        let registers = steps.contains { step in
            switch step {
            case .register, .registerAgain: true
            default: false
            }
        }
        if !registers { steps.append(.registerAgain([.timePassed])) }
    }

    /// A description for the developer's log, for example `register-again(provider-changed)`.
    package var description: String {
        let words = steps.map(\.description) + notices.map { "notice(\($0))" }
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
}

extension EnrolmentPlan.Step: CustomStringConvertible {
    /// A description for the developer's log, for example `confirm(654db668)`.
    package var description: String {
        switch self {
        case .purgeLeftovers: "purge-leftovers"
        case .end(let device): "end(\(device))"
        case .pin(let keys): "pin(\(keys.map(\.description).joined(separator: ", ")))"
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

    package init(_ error: KeyStoreError) {
        code = error.code.description
        description = error.description
    }

    init(_ error: EnrolmentStateError) {
        code = error.code.description
        description = error.description
    }

    package init(code: String, description: String) {
        self.code = code
        self.description = description
    }

    /// The code for a state that cannot be read now.
    package static let unreadableCode = "unreadable-enrolment"

    package static let unreadableState = EnrolmentObstacle(
        code: unreadableCode,
        description: "the enrolment state cannot be read now; it is read again when the phone is unlocked")
}

package import Pushcrypt
package import PushcryptKeyStore

/// The next step of an account with its provider.
package struct EnrolmentStep: Sendable, CustomStringConvertible {
    /// Why there is a request.
    package enum Reason: String, CaseIterable, Hashable, Sendable {
        /// The provider has never acknowledged the account.
        case first
        /// The key is old: another one is made.
        case keyIsOld = "key-is-old"
        /// The provider permits a post-quantum key, and this build has the suite: one is made.
        case postQuantumPermitted = "post-quantum-permitted"
        /// The provider has not acknowledged the present key.
        case keyNotAcknowledged = "key-not-acknowledged"
        /// The account trusts another provider key than it last reported.
        case providerChanged = "provider-changed"
        /// APNs has issued another device token, or one for another environment.
        case tokenChanged = "token-changed"
        /// The relay has issued another grant.
        case grantChanged = "grant-changed"
        /// Another version of the app is running.
        case appVersionChanged = "app-version-changed"
        /// The provider may have lost the last registration.
        case timePassed = "time-passed"
    }

    /// The registration to send; nil if the provider knows everything.
    package var request: EnrolmentRequest?
    package var reasons: [Reason] = []
    /// News for the app.
    package var notices: [EnrolmentNotice] = []

    /// For the developer's log, for example `register(token-changed), notice(alerts-off)`.
    package var description: String {
        let register = reasons.isEmpty ? [] : ["register(\(reasons.map(\.rawValue).joined(separator: ", ")))"]
        let words = register + notices.map { "notice(\($0.rawValue))" }
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
}

/// News for the app, as codes that `pushcrypt explain` explains.
package enum EnrolmentNotice: String, CaseIterable, Hashable, Sendable {
    /// Alerts are off: nothing is shown, and the service extension does not run.
    case alertsOff = "alerts-off"
    /// The last push was sealed more than a day after this phone's time and did not open: the phone's clock is behind.
    case clockBehind = "clock-behind"
    /// The account trusted a key that came in a reply, and a built-in one takes its place. Expected once after the app
    /// has changed from ``FirstTrust/firstReply`` to another key; otherwise someone has controlled the channel to the
    /// provider.
    case providerReplaced = "provider-replaced"
    /// A message, a reply or the app has brought a certificate that contradicts one of the same epoch: the provider key may be
    /// stolen.
    case certificateConflict = "certificate-conflict"
    /// The phone could not read its stored state, and has begun anew.
    case stateDamaged = "damaged-enrolment"
    /// The provider has no such device, or its record is not this phone's: pair or log in again.
    case pairAgain = "pair-again"
    /// The server uses no relay, and the app gives its token to its relay alone: the server cannot push.
    case noPushKey = "no-push-key"
}

/// A registration on its way to the provider.
package struct EnrolmentRequest: Sendable {
    /// The registration of the key.
    package let record: DeviceRegistration
    /// The record as the phone signs it: for the account's session, or for the address of a paired account.
    package let signed: SignedRecord
    /// The address of the code that carries it: then it is a new device's, even if the account was paired before.
    package var pairingAddress: String?
    let report: DeviceState.Registration.Report
    let updateKey: SigningKey
}

/// The reason nothing can be done.
public struct EnrolmentObstacle: Hashable, Sendable, CustomStringConvertible {
    /// The code as programs read it, for example that of a `KeyStoreError`.
    public let code: String
    /// A description of what happened, and what to do.
    public let description: String

    package init(_ error: KeyStoreError) { self.init(code: error.code.description, description: error.description) }

    package init(code: String, description: String) { (self.code, self.description) = (code, description) }
}

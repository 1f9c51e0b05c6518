/// The reason why a message was not sent, as `send` says it; APNs' own word is beside it.
package enum SendCode: String, CaseIterable, CustomStringConvertible, Sendable {
    /// The app is gone from the device, or has another token.
    case unregistered
    /// APNs does not accept the provider token or the certificate.
    case loginRefused = "login-refused"
    /// Device token, topic, environment and key do not go together.
    case wrongAddress = "wrong-address"
    /// APNs refuses the request for another reason.
    case requestRefused = "request-refused"
    /// The payload has nothing encrypted, and the line does not say that this is meant.
    case notSealed = "not-sealed"
    /// The message's time ended.
    case tooLate = "too-late"
    /// APNs did not accept it in time, but may later.
    case apnsBusy = "apns-busy"
    /// It is not known whether APNs has the message.
    case noAnswer = "no-answer"
    /// There was no connection to APNs.
    case unreachable
    /// APNs refuses every message of its topic, or its environment's login.
    case onHold = "on-hold"
    /// The time for retries ended before a stream was free.
    case notTried = "not-tried"
    /// The run ended first.
    case notSent = "not-sent"

    package var description: String { rawValue }
}

import Pushcrypt
import PushcryptDeveloperTools

/// Returns the problems of a push, one line each; none if it can be sent.
func problems(of push: SealedPayload, collapseID: String) -> [String] {
    let lint = PayloadLint(
        push.json, headers: PayloadLint.Headers(pushType: "\(push.pushType)", collapseID: collapseID))
    return lint.findings
        .filter { $0.severity != .note }
        .map { "\($0.place): \($0.message); \($0.fix)" }
}

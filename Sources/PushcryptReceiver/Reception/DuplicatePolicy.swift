/// What becomes of a message that was shown before under another notification request.
public enum DuplicatePolicy: String, CaseIterable, Sendable {
    /// The same content, passive and without sound.
    case quiet
    /// The fallback.
    case fallback
    /// Nothing is shown. Only for an app with Apple's entitlement `com.apple.developer.usernotifications.filtering`:
    /// without it, the system shows the original push when an extension delivers nothing.
    case suppress
}

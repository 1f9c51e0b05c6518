public import Foundation

/// What names a person in a call.
@available(macOS, unavailable)
open class CXHandle: NSObject {
    /// The kind of a handle.
    public enum HandleType: Int, Sendable {
        /// Neither of the others: a name in an app.
        case generic = 1
        /// A phone number.
        case phoneNumber
        /// An email address.
        case emailAddress
    }

    /// Its kind.
    open private(set) var type: HandleType
    /// The name.
    open private(set) var value: String

    /// Creates a handle.
    public init(type: HandleType, value: String) {
        self.type = type
        self.value = value
    }
}

/// What is known of a call.
@available(macOS, unavailable)
open class CXCallUpdate: NSObject {
    /// The other side.
    open var remoteHandle: CXHandle?
    /// The name that the system shows.
    open var localizedCallerName: String?
    /// Whether the call has video.
    open var hasVideo = false

    /// Creates a description of a call of which nothing is known.
    public override init() {}
}

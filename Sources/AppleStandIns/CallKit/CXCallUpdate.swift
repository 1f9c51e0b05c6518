public import Foundation

/// The facts of a call.
@available(macOS, unavailable)
open class CXCallUpdate: NSObject {
    /// The name that the system shows.
    open var localizedCallerName: String?

    /// Creates a description of a call of which nothing is known.
    public override init() {}
}

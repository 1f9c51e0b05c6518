// As on Apple platforms, importing UIKit also imports Foundation's names.
@_exported public import Foundation

/// An object that handles events.
@MainActor
open class UIResponder: NSObject {
    /// Creates a responder.
    public override init() { super.init() }
}

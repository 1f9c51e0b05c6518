// Code that imports UIKit gets Foundation's names with it, as on Apple platforms.
@_exported public import Foundation

/// What takes part in handling events.
@MainActor
open class UIResponder: NSObject {
    /// Makes a responder.
    public override init() { super.init() }
}

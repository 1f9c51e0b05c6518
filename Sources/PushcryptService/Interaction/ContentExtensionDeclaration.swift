public import Foundation
public import PushcryptReceiver

/// What the property list of a content extension declares. Not run on Apple systems.
public struct ContentExtensionDeclaration: Hashable, Sendable {
    /// The categories whose notifications it shows, letter by letter.
    public let categories: [String]

    /// Reads a property list; nil when it declares no category.
    public init?(infoDictionary: [String: Any]) {
        let extensionPart = infoDictionary["NSExtension"] as? [String: Any]
        let attributes = extensionPart?["NSExtensionAttributes"] as? [String: Any]
        switch attributes?["UNNotificationExtensionCategory"] {
        case let category as String: categories = [category]
        case let several as [String] where !several.isEmpty: categories = several
        default: return nil
        }
    }

    /// Reads the property list of a bundle, by default of the extension that is running.
    public init?(bundle: Bundle = .main) { self.init(infoDictionary: bundle.infoDictionary ?? [:]) }

    /// The categories that the app does not register: their notifications get this view, but none of its actions.
    public func categories(missingIn registered: CategorySet) -> [String] {
        categories.filter { registered[$0] == nil }
    }
}

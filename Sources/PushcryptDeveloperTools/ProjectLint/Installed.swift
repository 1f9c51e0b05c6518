internal import Pushcrypt
internal import PushcryptCommandKit

/// A target as it is built in one configuration.
struct Built {
    /// The extension point, in a property list.
    enum Kind: String, CaseIterable {
        case app
        case service = "com.apple.usernotifications.service"
        case content = "com.apple.usernotifications.content-extension"

        static let extensions = [service, content]
    }

    /// A property list, with its path for the user.
    struct List {
        let file: String
        /// Nil if the target has none.
        let values: JSONValue?
    }

    static let keychain = "keychain-access-groups"
    static let appGroups = "com.apple.security.application-groups"

    let name: String
    let kind: Kind
    let settings: Settings
    /// Nil if unknown.
    let info: List?
    let entitlements: List?
    let sources: SwiftSources

    var bundleID: String? {
        guard let info else { return nil }
        return settings.expanded(info.values?["CFBundleIdentifier"]?.string ?? "$(PRODUCT_BUNDLE_IDENTIFIER)")
    }

    /// The groups of an entitlement; nil is one that is unknown.
    func groups(_ entitlement: String) -> [String?] {
        guard let values = entitlements?.values else { return [nil] }
        return (values[entitlement]?.elements ?? []).map { $0.string.flatMap(group) }
    }

    /// A group's name with its variables replaced, and with one prefix for every team.
    func group(_ text: String) -> String? {
        guard let group = settings.expanded(text) else { return nil }
        let team = group.prefix { $0 != "." }
        let isTeam = team.utf8.count == 10 && team.allSatisfy { $0.isNumber || $0.isUppercase }
        return isTeam ? Settings.teamPrefix + group.dropFirst(team.utf8.count + 1) : group
    }
}

/// The products that one build puts on a phone: an app and its notification extensions, in one configuration.
struct Installed {
    /// The project that builds the app.
    let project: String
    let configuration: String
    let app: Built
    let extensions: [Built]

    var services: [Built] { extensions.filter { $0.kind == .service } }
    var contents: [Built] { extensions.filter { $0.kind == .content } }
    var all: [Built] { [app] + extensions }
}

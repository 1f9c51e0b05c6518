internal import Pushcrypt

/// One file that a scaffold consists of.
struct ScaffoldFile: Equatable, Sendable {
    /// Below the scaffold's folder.
    let path: String
    let text: String
}

/// The notification side of one iOS app: what was asked for, checked, and the files that follow from it.
///
/// The files are the developer's from then on: short, and with nothing in them that the library can do.
struct IOSScaffold: Sendable {
    let topic: Topic
    let appGroup: String
    /// Without the team's prefix, which only Xcode knows.
    let keychainGroup: String
    let hasContentExtension: Bool
    let categories: [String]
    /// The provider's key, if it comes with the app.
    let sender: SenderPublicKey?
    /// Where the manifest looks for this package.
    let package: String

    /// Every file, in the order of their paths.
    var files: [ScaffoldFile] {
        var files = [
            manifest, guide, appInfo, appEntitlements, pushDelegate, pushRegistration, providerChannel, deliveryJournal,
            notificationResponses, serviceInfo, serviceEntitlements, notificationService, tests,
        ]
        if !categories.isEmpty { files.append(notificationCategories) }
        if hasContentExtension { files += [contentInfo, contentEntitlements, notificationViewController] }
        return files.sorted { $0.path < $1.path }
    }

    /// The group as entitlements and property lists name it; Xcode puts the team's prefix in.
    var accessGroup: String { "$(AppIdentifierPrefix)" + keychainGroup }
}

/// A Swift string literal of a text.
func swiftLiteral(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { literal += "\\" }
        literal.unicodeScalars.append(scalar)
    }
    return literal + "\""
}

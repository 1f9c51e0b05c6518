package import Pushcrypt
internal import PushcryptCommandKit

/// One file that a scaffold consists of.
package struct ScaffoldFile: Equatable, Sendable {
    /// Below the scaffold's folder.
    package let path: String
    package let text: String
}

/// The notification side of one iOS app: the checked options, and the files that follow from them.
///
/// The files are the developer's from then on: short, and with nothing in them that the library can do.
package struct IOSScaffold: Sendable {
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

    package init(
        topic: Topic, appGroup: String, keychainGroup: String, hasContentExtension: Bool, categories: [String],
        sender: SenderPublicKey?, package: String
    ) {
        self.topic = topic
        self.appGroup = appGroup
        self.keychainGroup = keychainGroup
        self.hasContentExtension = hasContentExtension
        self.categories = categories
        self.sender = sender
        self.package = package
    }

    /// Every file, in the order of their paths.
    package var files: [ScaffoldFile] {
        var files = [
            manifest, guide, appInfo, appEntitlements, pushDelegate, pushRegistration, providerChannel, deliveryJournal,
            notificationResponses, serviceInfo, serviceEntitlements, notificationService,
            tests, privacyManifest(in: "App"), privacyManifest(in: "NotificationService"),
        ]
        files += stringTables
        if !categories.isEmpty { files.append(notificationCategories) }
        if hasContentExtension {
            files += [
                contentInfo, contentEntitlements, notificationViewController, contentTests,
                privacyManifest(in: "NotificationContent"),
            ]
        }
        return files.sorted { $0.path < $1.path }
    }

    /// The group as entitlements and property lists name it; Xcode puts the team's prefix in.
    var accessGroup: String { "$(AppIdentifierPrefix)" + keychainGroup }
}

/// A Swift string literal of a text without line breaks; raw where it would need escapes otherwise.
func swiftLiteral(_ text: String) -> String {
    // A quote or a backslash, and the hashes behind it, must be shorter than what ends the literal.
    var longest = 0
    var length = 0
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): length = 1
        case UInt8(ascii: "#") where length > 0: length += 1
        default: length = 0
        }
        longest = max(longest, length)
    }
    let hashes = String(repeating: "#", count: longest)
    return "\(hashes)\"\(text)\"\(hashes)"
}

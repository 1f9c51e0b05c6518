package import Pushcrypt
internal import PushcryptCommandKit

/// A file of a scaffold.
package struct ScaffoldFile: Equatable, Sendable {
    /// The path below the scaffold's folder.
    package let path: String
    package let text: String
}

/// The notification code of an iOS app: the checked options, and the resulting files.
///
/// The files belong to the developer from then on. They are short, and leave everything that the library can do to it.
package struct IOSScaffold: Sendable {
    let topic: Topic
    let appGroup: String
    /// Without the team's prefix, which only Xcode knows.
    let keychainGroup: String
    let hasContentExtension: Bool
    let categories: [String]
    /// The provider's key, if it is built into the app.
    let sender: SenderPublicKey?
    /// The path of this package in the manifest.
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

    /// The files, in the order of their paths.
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

    /// The group in entitlements and property lists; Xcode inserts the team's prefix.
    var accessGroup: String { "$(AppIdentifierPrefix)" + keychainGroup }
}

/// Returns a Swift string literal for a text without line breaks; raw if it would need escapes.
func swiftLiteral(_ text: String) -> String {
    // The literal needs more hashes than follow any quote or backslash in the text.
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

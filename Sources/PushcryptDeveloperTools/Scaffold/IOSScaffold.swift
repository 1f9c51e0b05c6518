package import Pushcrypt
internal import PushcryptCommandKit

package struct ScaffoldFile: Equatable, Sendable {
    /// The path below the scaffold's folder.
    package let path: String
    /// The contents; of a symbolic link its destination.
    package let text: String
    package var isLink = false
}

/// The notification code of an iOS app: the checked options, and the resulting files.
///
/// The files belong to the developer from then on. They are short, and leave everything that the library can do to it.
package struct IOSScaffold: Sendable {
    let topic: Topic
    let appGroup: String
    /// Without the team's prefix, which only Xcode knows; equal to the app group if that holds the keys too.
    let keychainGroup: String
    let hasContentExtension: Bool
    let categories: [String]
    /// The provider key, if it is built into the app, and its certificate.
    let provider: ProviderPublicKey?
    let certificate: Certificate?
    /// Whether notifications have a sender with a name and a face.
    let hasCommunication: Bool
    /// Until when pushes that are not sealed are shown as they are; nil for never.
    let passesClearUntil: Timestamp?
    /// The path of this package, absolute or from the project's folder.
    let package: String
    let projectPackage: String

    package init(
        topic: Topic, appGroup: String, keychainGroup: String, hasContentExtension: Bool, categories: [String],
        provider: ProviderPublicKey?, certificate: Certificate? = nil, hasCommunication: Bool = false,
        passesClearUntil: Timestamp? = nil, package: String, projectPackage: String? = nil
    ) {
        self.topic = topic
        self.appGroup = appGroup
        self.keychainGroup = keychainGroup
        self.hasContentExtension = hasContentExtension
        self.categories = categories
        self.provider = provider
        self.certificate = certificate
        self.hasCommunication = hasCommunication
        self.passesClearUntil = passesClearUntil
        self.package = package
        self.projectPackage = projectPackage ?? package
    }

    /// The files of a whole app, in the order of their paths.
    package var files: [ScaffoldFile] {
        var files =
            extensionFiles + appSources(in: "App") + newAppSources + [
                guide, xcodeProject, scheme, appInfo, appEntitlements, stringCatalogue, privacyManifest(in: "App"),
            ]
        files += targets.filter { $0.kind != .tests }.map {
            ScaffoldFile(path: "Linux/\($0.folder)", text: "../\($0.folder)", isLink: true)
        }
        return files.sorted { $0.path < $1.path }
    }

    /// The extensions and the app's sources, for a project that exists.
    package var filesForProject: [ScaffoldFile] {
        (extensionFiles + appSources(in: "Pushcrypt") + [guideForProject]).sorted { $0.path < $1.path }
    }

    private var extensionFiles: [ScaffoldFile] {
        let service =
            extensionSources + [serviceInfo, serviceEntitlements, privacyManifest(in: "NotificationService")]
        guard hasContentExtension else { return service }
        return service + [contentInfo, contentEntitlements, privacyManifest(in: "NotificationContent")]
    }

    /// Whether the keys are in the app group, which needs no team prefix.
    var usesAppGroupAsKeychainGroup: Bool { keychainGroup == appGroup }

    /// The group in entitlements and property lists; Xcode inserts the team's prefix.
    var accessGroup: String {
        usesAppGroupAsKeychainGroup ? appGroup : "$(AppIdentifierPrefix)" + keychainGroup
    }
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

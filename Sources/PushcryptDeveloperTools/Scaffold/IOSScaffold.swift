package import Pushcrypt
internal import PushcryptCommandKit

package struct ScaffoldFile: Equatable, Sendable {
    /// The path below the scaffold's folder.
    package let path: String
    /// The contents; of a symbolic link its destination.
    package let bytes: ContiguousArray<UInt8>
    package let isLink: Bool

    init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = ContiguousArray(bytes)
        isLink = false
    }

    package init(path: String, text: String, isLink: Bool = false) {
        self.path = path
        bytes = ContiguousArray(text.utf8)
        self.isLink = isLink
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// The notification code of an iOS app: the checked options, and the resulting files, from `Templates`.
///
/// The files belong to the developer from then on. They are short, and leave everything that the library can do to it.
package struct IOSScaffold: Sendable {
    let topic: Topic
    let appGroup: String
    /// Without the team's prefix, which only Xcode knows; equal to the app group if that holds the keys too.
    let keychainGroup: String
    let package: PackageLocation
    package var hasContentExtension = false
    package var categories: [String] = []
    /// The provider key, if it is built into the app, and its certificate.
    package var provider: ProviderPublicKey?
    package var certificate: Certificate?
    /// Whether notifications have a sender with a name and a face.
    package var hasCommunication = false
    /// Whether notifications may be time-sensitive.
    package var isTimeSensitive = false
    /// Until when pushes that are not sealed are shown as they are; nil for never.
    package var passesClearUntil: Timestamp?

    package init(topic: Topic, appGroup: String, keychainGroup: String, package: PackageLocation) {
        (self.topic, self.appGroup, self.keychainGroup, self.package) = (topic, appGroup, keychainGroup, package)
    }

    // MARK: Files

    /// The files of a whole app, in the order of their paths.
    package var files: [ScaffoldFile] {
        let (project, icons) = ("Notifications.xcodeproj", "App/Assets.xcassets")
        var files =
            extensionFiles + appSources(in: "App") + [
                file("README.md", PackageResources.README_md, [(" MESSAGE |", " \(categoryCell) |")]),
                file("\(project)/project.pbxproj", PackageResources.project_pbxproj),
                file("\(project)/xcshareddata/xcschemes/App.xcscheme", PackageResources.App_xcscheme),
                file("App/App.entitlements", PackageResources.App_entitlements),
                file("App/Info.plist", PackageResources.AppInfo_plist),
                file("App/Localizable.xcstrings", PackageResources.Localizable_xcstrings),
                file("App/NotificationsApp.swift", PackageResources.NotificationsApp_swift),
                file("App/PrivacyInfo.xcprivacy", PackageResources.PrivacyInfo_xcprivacy),
                file("App/PushDelegate.swift", PackageResources.PushDelegate_swift),
                file("\(icons)/Contents.json", PackageResources.Assets_json),
                file("\(icons)/AppIcon.appiconset/Contents.json", PackageResources.AppIcon_json),
                ScaffoldFile(path: "\(icons)/AppIcon.appiconset/AppIcon.png", bytes: PackageResources.AppIcon_png),
                file("Tests/ProjectTests.swift", PackageResources.ProjectTests_swift),
                file("Linux/Package.swift", PackageResources.Package_swift),
                file("Linux/Tests/NotificationTests.swift", PackageResources.NotificationTests_swift),
            ]
        if hasContentExtension { files.append(contentTests) }
        for folder in ["App", "NotificationService"] + (hasContentExtension ? ["NotificationContent"] : []) {
            files.append(ScaffoldFile(path: "Linux/\(folder)", text: "../\(folder)", isLink: true))
        }
        return files.sorted { $0.path < $1.path }
    }

    /// The extensions, the app's sources and the steps, for a project that exists.
    package var filesForProject: [ScaffoldFile] {
        (extensionFiles + appSources(in: "Pushcrypt") + [file("PUSHCRYPT.md", PackageResources.PUSHCRYPT_md)])
            .sorted { $0.path < $1.path }
    }

    private var extensionFiles: [ScaffoldFile] {
        let (service, content) = ("NotificationService", "NotificationContent")
        let files = [
            file("\(service)/\(service).entitlements", PackageResources.NotificationService_entitlements),
            file("\(service)/\(service).swift", PackageResources.NotificationService_swift),
            file("\(service)/Info.plist", PackageResources.ServiceInfo_plist),
            file("\(service)/PrivacyInfo.xcprivacy", PackageResources.PrivacyInfo_xcprivacy),
        ]
        guard hasContentExtension else { return files }
        let names = categories.map { "                <string>\(XML.escaped($0))</string>\n" }.joined()
        return files + [
            file("\(content)/\(content).entitlements", PackageResources.NotificationContent_entitlements),
            file(
                "\(content)/Info.plist", PackageResources.ContentInfo_plist,
                [("                <string>MESSAGE</string>\n", names)]),
            file("\(content)/PrivacyInfo.xcprivacy", PackageResources.PrivacyInfo_xcprivacy),
            file(
                "\(content)/NotificationViewController.swift", PackageResources.NotificationViewController_swift),
        ]
    }

    /// The app's sources that a developer keeps, in this folder.
    private func appSources(in folder: String) -> [ScaffoldFile] {
        var files = [
            file("\(folder)/Push.swift", PackageResources.Push_swift),
            file("\(folder)/NotificationResponses.swift", PackageResources.NotificationResponses_swift),
        ]
        if !categories.isEmpty {
            let path = "\(folder)/NotificationCategories.swift"
            let text = declaring(file(path, PackageResources.NotificationCategories_swift).text)
            files.append(ScaffoldFile(path: path, text: text))
        }
        return files
    }

    /// The test of the view, for the first category.
    private var contentTests: ScaffoldFile {
        let category = categories.first ?? ""
        var payload = JSONWriter()
        payload.object { json in
            json.object(for: "aps") { json in
                json.object(for: "alert") { json in
                    json.string("Table for two", for: "title")
                    json.string("See you at 8", for: "body")
                }
                json.string(category, for: "category")
            }
        }
        let payloadInTemplate =
            ##"#"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"category":"MESSAGE"}}"#"##
        return file(
            "Linux/Tests/ContentExtensionTests.swift", PackageResources.ContentExtensionTests_swift,
            [
                (payloadInTemplate, swiftLiteral(String(decoding: payload.bytes, as: UTF8.self))),
                ("[\"MESSAGE\"]", "[\(swiftLiteral(category))]"),
            ])
    }

    // MARK: Templates

    /// A template for this app, with replacements that only this file has.
    private func file(
        _ path: String, _ bytes: [UInt8], _ others: [(old: String, new: String)] = []
    ) -> ScaffoldFile {
        ScaffoldFile(path: path, text: Template(bytes).text(features, replacing: others + replacements))
    }

    private var features: Set<Template.Feature> {
        var features: Set<Template.Feature> = []
        if !categories.isEmpty { features.insert(.categories) }
        if passesClearUntil != nil { features.insert(.clear) }
        if hasCommunication { features.insert(.communication) }
        if hasContentExtension { features.insert(.content) }
        if keychainGroup != appGroup { features.insert(.keychain) }
        if provider != nil { features.insert(.provider) }
        if passesClearUntil != nil || hasCommunication { features.insert(.settings) }
        if package.version != nil { features.insert(.remote) }
        if isTimeSensitive { features.insert(.timeSensitive) }
        return features
    }

    private var replacements: [(old: String, new: String)] {
        // Xcode inserts the team's prefix.
        let accessGroup = keychainGroup == appGroup ? appGroup : "$(AppIdentifierPrefix)" + keychainGroup
        var replacements = [
            (old: "$(AppIdentifierPrefix)com.example.app.pushcrypt", new: accessGroup),
            ("com.example.app.pushcrypt", keychainGroup), ("group.com.example", appGroup),
            ("com.example.app", "\(topic)"), (".firstReply,\n", "\(trust),\n"),
            // In a manifest, in a project, and in a guide.
            ("\"../../pushcrypt\"", swiftLiteral(package.fromLinux)),
            ("\"../pushcrypt\"", package.inProject), ("../../pushcrypt", package.fromLinux),
            ("../pushcrypt", package.fromProject), ("https://example.com/pushcrypt", package.fromProject),
            ("\"1.0.0\"", "\"\(package.version ?? "")\""),
            ("package: \"pushcrypt\"", "package: \(swiftLiteral(package.identity))"),
        ]
        if let end = passesClearUntil {
            replacements.append((old: "1_814_400_000))", new: "\(end.milliseconds / 1000)))  // \(end)"))
            replacements.append((old: "2027-06-30", new: "\(end)"))
        }
        return replacements
    }

    /// The trust of the accounts, where the template has that of the first reply.
    private var trust: String {
        guard let provider else { return ".firstReply" }
        let certificate = certificate.map { ",\n            certificate: try Certificate(text: \"\($0)\")" } ?? ""
        return ".provider(\n            try ProviderPublicKey(text: \"\(provider)\")\(certificate))"
    }

    /// The categories in a table, where a bar ends the cell.
    private var categoryCell: String {
        categories.joined(separator: ", ").split(separator: "|", omittingEmptySubsequences: false)
            .joined(separator: "\\|")
    }

    /// The same text with a declaration for each category.
    private func declaring(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(where: { $0.hasSuffix("CategoryDeclaration(") }),
            let last = lines[first...].firstIndex(where: { $0.hasSuffix("])") })
        else { return text }
        let indent = String(repeating: " ", count: 20)
        let declarations = categories.flatMap { name in
            lines[first..<last].map { $0.hasSuffix("\"MESSAGE\",") ? "\(indent)\(swiftLiteral(name))," : String($0) }
                // A list of several ends with a comma.
                + [lines[last] + (categories.count > 1 ? "," : "")]
        }
        return (lines[..<first].map(String.init) + declarations + lines[(last + 1)...].map(String.init))
            .joined(separator: "\n")
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

internal import Pushcrypt

// The sources of the three targets and of the tests, from `Templates`.
extension IOSScaffold {
    /// The app's sources that a developer keeps, in this folder.
    func appSources(in folder: String) -> [ScaffoldFile] {
        var files = [
            file("\(folder)/Push.swift", PackageResources.Push_swift),
            file("\(folder)/NotificationResponses.swift", PackageResources.NotificationResponses_swift),
        ]
        if !categories.isEmpty {
            let text = template(PackageResources.NotificationCategories_swift)
            files.append(ScaffoldFile(path: "\(folder)/NotificationCategories.swift", text: declaring(text)))
        }
        return files
    }

    /// The rest of a new app.
    var newAppSources: [ScaffoldFile] {
        var files = [
            file("App/NotificationsApp.swift", PackageResources.NotificationsApp_swift),
            file("App/PushDelegate.swift", PackageResources.PushDelegate_swift),
            file("Tests/ProjectTests.swift", PackageResources.ProjectTests_swift),
            file("Linux/Tests/NotificationTests.swift", PackageResources.NotificationTests_swift),
            file("Linux/Package.swift", PackageResources.Package_swift),
        ]
        if hasContentExtension {
            files.append(contentTests)
        }
        return files
    }

    /// The classes of the extensions.
    var extensionSources: [ScaffoldFile] {
        let service = file("NotificationService/NotificationService.swift", PackageResources.NotificationService_swift)
        guard hasContentExtension else { return [service] }
        return [
            service,
            file(
                "NotificationContent/NotificationViewController.swift",
                PackageResources.NotificationViewController_swift),
        ]
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
        let text = Template(PackageResources.ContentExtensionTests_swift).text(
            [],
            replacing: [
                (
                    old:
                        ##"#"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"category":"MESSAGE"}}"#"##,
                    new: swiftLiteral(String(decoding: payload.bytes, as: UTF8.self))
                ),
                (old: "[\"MESSAGE\"]", new: "[\(swiftLiteral(category))]"),
            ])
        return ScaffoldFile(path: "Linux/Tests/ContentExtensionTests.swift", text: text)
    }

    private func file(_ path: String, _ bytes: [UInt8]) -> ScaffoldFile {
        ScaffoldFile(path: path, text: template(bytes))
    }

    /// The text of a template for this app.
    func template(_ bytes: [UInt8]) -> String {
        var features: Set<Template.Feature> = []
        if !categories.isEmpty { features.insert(.categories) }
        if passesClearUntil != nil { features.insert(.clear) }
        if hasCommunication { features.insert(.communication) }
        if hasContentExtension { features.insert(.content) }
        var replacements = [
            (old: "group.com.example", new: appGroup), (old: "com.example.app", new: "\(topic)"),
            (old: "\"../../pushcrypt\"", new: swiftLiteral(packageFromLinux)),
            (old: ".firstReply,\n        channel: Server", new: "\(trust),\n        channel: Server"),
        ]
        if let end = passesClearUntil {
            replacements.append((old: "1_814_400_000))", new: "\(end.milliseconds / 1000)))  // \(end)"))
        }
        return Template(bytes).text(features, replacing: replacements)
    }

    /// The trust of the accounts, where the template has that of the first reply.
    private var trust: String {
        guard let provider else { return ".firstReply" }
        let certificate = certificate.map { ",\n            certificate: try Certificate(text: \"\($0)\")" } ?? ""
        return ".provider(\n            try ProviderPublicKey(text: \"\(provider)\")\(certificate))"
    }

    /// The same text with a declaration for each category.
    private func declaring(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(where: { $0.contains("CategoryDeclaration(") }),
            let last = lines[first...].firstIndex(where: { $0.hasSuffix("])") })
        else { return text }
        let declarations = categories.flatMap { name in
            lines[first..<last].map { $0.contains("\"MESSAGE\"") ? "\(Self.indent)\(swiftLiteral(name))," : String($0) }
                // A list of several ends with a comma.
                + [lines[last] + (categories.count > 1 ? "," : "")]
        }
        return (lines[..<first].map(String.init) + declarations + lines[(last + 1)...].map(String.init))
            .joined(separator: "\n")
    }

    private static let indent = String(repeating: " ", count: 20)
}

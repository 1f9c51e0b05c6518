internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptDeveloperTools
internal import PushcryptReceiver

extension Command {
    static let scaffold = Command(
        group: "scaffold", "write what an app needs for encrypted notifications",
        examples: [Example("pushcrypt scaffold ios --bundle-id com.example.app --group group.com.example --out App")],
        commands: [scaffoldIOS])

    private static let scaffoldIOS = Command(
        "ios", "write a service extension, and the app's side of it",
        discussion: [
            "Writes the sources, property lists and entitlements of a notification service extension, and for the app: registration with the provider, the notification delegate and the delivery journal. What has to be filled in is marked EDIT; the README beside it says what is left to do in Xcode.",
            "The same sources are a Swift package, which compiles and runs them on Linux without Xcode: 'swift test' in the folder sends pushes to a simulated phone.",
        ],
        options: [
            Option(
                "--bundle-id", "ID", isRequired: true, help: "the app's bundle id, which is the topic of its pushes"),
            Option("--group", "GROUP", isRequired: true, help: "the app group that app and extensions share"),
            Option("--out", "DIR", .folder, isRequired: true, help: "the folder to write; it must be new, or empty"),
            Option(
                "--keychain-group", "GROUP",
                help: "the Keychain group for the keys, without the team's prefix; otherwise ID.pushcrypt"),
            Option(flag: "--content-extension", help: "add a view of its own for expanded notifications"),
            Option(
                "--category", "NAME", isRepeatable: true,
                help: "declare a category, which the content extension shows"),
            Option(
                "--sender-key", "KEY", help: "build the provider's key (pcs1…) in; otherwise the first reply brings it"),
            Option(
                "--package-path", "PATH", .folder,
                help: "where Package.swift finds pushcrypt; otherwise where this program was built, or ../pushcrypt"),
            .json,
            Option(flag: "--force", help: "write into a folder that is not empty, and replace files of these names"),
        ],
        examples: [
            Example("pushcrypt scaffold ios --bundle-id com.example.app --group group.com.example --out Notifications"),
            Example(
                "pushcrypt scaffold ios --bundle-id com.example.app --group group.com.example --content-extension --category MESSAGE --out Notifications",
                "with a view of its own for expanded messages"),
        ],
        run: runScaffoldIOS)
}

private func runScaffoldIOS(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let name = invocation.requiredValue("--out")
    let (package, isCertain) = try packageLocation(invocation)
    let scaffold = try IOSScaffold(invocation, package: package)
    let files = scaffold.files
    let folder = try ScaffoldFolder(name, force: invocation.flag("--force"))
    try folder.write(files)
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object { json in
            json.string(folder.path, for: "folder")
            json.array(for: "files") { json in for file in files { json.string(file.path) } }
            json.string(package, for: "package")
        }
        try console.write(console.shown(json: json.bytes) + "\n")
    } else {
        try console.write(files.map { sanitized(forTerminal: "\(folder.path)/\($0.path)") + "\n" }.joined())
    }
    if !isCertain {
        console.hint("Package.swift looks for pushcrypt in \(package): --package-path names another place")
    }
    console.hint("read \(folder.path)/README.md; 'swift test' in \(quoted(folder.path)) runs it all on Linux")
    return .done
}

/// Where the package is, and whether anybody has said so.
private func packageLocation(_ invocation: Invocation) throws(CommandFailure) -> (path: String, isCertain: Bool) {
    if let path = invocation.value("--package-path") { return (try PackageLocation.given(path), true) }
    if let path = PackageLocation.ofRunningProgram { return (path, true) }
    return (PackageLocation.usual, false)
}

// MARK: What was asked for

extension IOSScaffold {
    fileprivate init(_ invocation: Invocation, package: String) throws(CommandFailure) {
        let topic: Topic
        do throws(InvalidTopic) {
            topic = try Topic(invocation.requiredValue("--bundle-id"))
        } catch {
            throw CommandFailure(error, in: "--bundle-id")
        }
        let group = try Self.appGroup(invocation.requiredValue("--group"))
        let keychainGroup = try invocation.value("--keychain-group").map(Self.keychainGroup) ?? "\(topic).pushcrypt"
        let hasContentExtension = invocation.flag("--content-extension")
        let categories = try Self.categories(invocation.values("--category"))
        if hasContentExtension, categories.isEmpty {
            throw .usage(
                "a content extension is for notifications of certain categories, and none is given",
                hint: "add --category with the name that the payloads have, for example --category MESSAGE")
        }
        let sender: SenderPublicKey?
        do throws(KeyError) {
            sender = try invocation.value("--sender-key").map { (text) throws(KeyError) in
                try SenderPublicKey(text: text)
            }
        } catch {
            throw CommandFailure(error, inOption: "--sender-key")
        }
        self.init(
            topic: topic, appGroup: group, keychainGroup: keychainGroup, hasContentExtension: hasContentExtension,
            categories: categories, sender: sender, package: package)
    }

    private static func appGroup(_ group: String) throws(CommandFailure) -> String {
        guard group.hasPrefix("group."), isIdentifier(group) else {
            throw .usage(
                "--group cannot be \(quoted(group))",
                hint:
                    "an app group begins with 'group.', and has ASCII letters, digits, '.' and '-', for example group.com.example"
            )
        }
        return group
    }

    private static func keychainGroup(_ group: String) throws(CommandFailure) -> String {
        guard isIdentifier(group) else {
            throw .usage(
                "--keychain-group cannot be \(quoted(group))",
                hint:
                    "write ASCII letters, digits, '.' and '-', for example com.example.keys; Xcode puts the team's prefix in front"
            )
        }
        return group
    }

    /// The rules of a bundle id, without an empty part.
    private static func isIdentifier(_ text: String) -> Bool {
        (try? Topic(text)) != nil && !text.split(separator: ".", omittingEmptySubsequences: false).contains("")
    }

    private static func categories(_ names: [String]) throws(CommandFailure) -> [String] {
        do throws(CategoryError) {
            return try CategorySet(names.map { CategoryDeclaration($0) }).categories.map(\.identifier)
        } catch {
            throw .usage("--category: \(error.code): \(error)")
        }
    }
}

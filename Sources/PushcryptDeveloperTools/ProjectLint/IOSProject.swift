internal import Pushcrypt
internal import PushcryptCommandKit

/// An app's notification extensions and their entitlements, from the files of a project.
struct IOSProject {
    /// The two kinds of notification extension.
    enum ExtensionPoint: String, CaseIterable {
        case service = "com.apple.usernotifications.service"
        case content = "com.apple.usernotifications.content-extension"
    }

    /// A target of one of the two kinds.
    struct Extension {
        let point: ExtensionPoint
        /// The property list: its path for the user, and its `NSExtension`.
        let file: String
        let info: JSONValue
        let entitlements: [Entitlements]
        let classes: SwiftClasses
        /// The names of storyboards, without the ending.
        let storyboards: [(name: String, viewControllers: Int)]
        let deploymentTarget: Version?
        /// Its targets in Xcode projects.
        let targets: [XcodeSettings.Target]
    }

    struct Entitlements {
        let file: String
        let values: JSONValue
    }

    /// More than any file that people write.
    private static let maximumSource = 1 << 24

    private(set) var extensions: [Extension] = []
    /// The entitlements that do not belong to a notification extension: the app's.
    private(set) var appEntitlements: [Entitlements] = []
    /// The reason and the fix for an unreadable file.
    private(set) var findings: [Finding] = []
    /// The lowest iOS version of the app, if an Xcode project sets it.
    private(set) var appDeploymentTarget: Version?
    /// The targets of Xcode projects.
    private(set) var targets: [XcodeSettings.Target] = []
    /// The property lists of apps.
    private(set) var appInfos: [(file: String, info: JSONValue)] = []
    /// The number of property lists and entitlements that were read.
    private(set) var fileCount = 0

    /// Reads a project.
    init(_ files: ProjectFiles) throws(CommandFailure) {
        var settings = XcodeSettings()
        for file in files.projects {
            guard case .value(let project) = try read(file, files), let fault = settings.add(project, file: file) else {
                continue
            }
            findings.append(
                .error(
                    files.path(file), "\(fault), so not all of its targets were checked",
                    fix: "restore it from version control, or generate it again"))
        }
        var lists: [(file: String, root: JSONValue)] = []
        for file in files.propertyLists {
            guard case .value(let root) = try read(file, files) else { continue }
            if root["NSExtension"] != nil || root["CFBundlePackageType"] != nil { lists.append((file, root)) }
        }
        var entitlements: [(file: String, list: Entitlements)] = []
        for file in files.entitlements {
            guard case .value(let root) = try read(file, files) else { continue }
            entitlements.append((file, Entitlements(file: files.path(file), values: root)))
        }

        var owned: Set<String> = []
        var extensionFiles: [String] = []
        for (file, root) in lists {
            guard let point = extensionPoint(of: root, file: files.path(file)) else { continue }
            let home = Self.home(of: file, among: lists.map(\.file), files)
            let named = settings.configurations.filter { $0.infoPlist == file }
            let namedEntitlements = named.compactMap(\.entitlements)
            var own = entitlements.filter { namedEntitlements.contains($0.file) }
            if own.isEmpty {
                own = entitlements.filter {
                    home.isEmpty ? folder(of: $0.file).isEmpty : isFile($0.file, below: home)
                }
            }
            owned.formUnion(own.map(\.file))
            extensionFiles.append(file)
            extensions.append(
                Extension(
                    point: point, file: files.path(file), info: root, entitlements: own.map(\.list),
                    classes: try Self.classes(below: home, files),
                    storyboards: try Self.storyboards(below: home, files),
                    deploymentTarget: settings.deploymentTarget { $0.infoPlist == file }
                        ?? (named.isEmpty ? nil : settings.deploymentTarget { $0.infoPlist == nil }),
                    targets: settings.targets.filter { $0.infoPlists.contains(file) }))
        }
        targets = settings.targets
        let appLists = Set(targets.filter { $0.productType.hasSuffix(".application") }.flatMap(\.infoPlists))
        for (file, root) in lists where root["NSExtension"] == nil || appLists.contains(file) {
            appInfos.append((files.path(file), root))
        }
        for file in files.propertyLists where appLists.contains(file) && !lists.contains(where: { $0.file == file }) {
            if case .value(let root) = try PropertyLists.read(files.path(file)) {
                appInfos.append((files.path(file), root))
            }
        }
        appEntitlements = entitlements.filter { !owned.contains($0.file) }.map(\.list)
        let ownLists = Set(extensionFiles)
        appDeploymentTarget = settings.deploymentTarget { $0.infoPlist.map { !ownLists.contains($0) } ?? true }
    }

    private mutating func read(_ file: String, _ files: ProjectFiles) throws(CommandFailure) -> PropertyLists.Reading {
        let reading = try PropertyLists.read(files.path(file))
        fileCount += 1
        if case .unreadable(let reason) = reading {
            // Property lists of other kinds are ignored.
            let isOurs = [".entitlements", "Info.plist", "project.pbxproj"].contains { file.hasSuffix($0) }
            let finding: (String, String, String) -> Finding =
                isOurs ? { .error($0, $1, fix: $2) } : { .warning($0, $1, fix: $2) }
            findings.append(finding(files.path(file), reason.text, reason.fix))
        }
        return reading
    }

    /// Checks the extension point of a property list, if it is one of the two or similar to one.
    private mutating func extensionPoint(of root: JSONValue, file: String) -> ExtensionPoint? {
        guard let info = root["NSExtension"] else { return nil }
        guard let name = info["NSExtensionPointIdentifier"]?.string else {
            findings.append(
                .error(
                    file, "NSExtension has no NSExtensionPointIdentifier",
                    fix: "for a notification service extension it is \(ExtensionPoint.service.rawValue)"))
            return nil
        }
        if let point = ExtensionPoint(rawValue: name) { return point }
        let near = nearestName(to: name.lowercased(), among: ExtensionPoint.allCases.map(\.rawValue))
        if let near {
            findings.append(
                .error(file, "the system has no extension point \(quoted(name))", fix: "write \(near)"))
        }
        return nil
    }
}

// MARK: Files of a target

extension IOSProject {
    /// The folder of a target: that of its property list, or one above it without files of another target.
    private static func home(of file: String, among lists: [String], _ files: ProjectFiles) -> String {
        var home = folder(of: file)
        while !home.isEmpty, !files.swiftSources.contains(where: { isFile($0, below: home) }) {
            let parent = folder(of: home)
            let isShared =
                lists.contains { $0 != file && isFile($0, below: parent) }
                || files.projects.contains { folder(of: folder(of: $0)) == parent }
            if parent.isEmpty || isShared { break }
            home = parent
        }
        return home
    }

    private static func classes(below home: String, _ files: ProjectFiles) throws(CommandFailure)
        -> SwiftClasses
    {
        var classes = SwiftClasses()
        for file in files.swiftSources where isFile(file, below: home) {
            classes.add(try readFile(files.path(file), limit: maximumSource))
        }
        return classes
    }

    private static func storyboards(
        below home: String, _ files: ProjectFiles
    ) throws(CommandFailure) -> [(name: String, viewControllers: Int)] {
        var storyboards: [(name: String, viewControllers: Int)] = []
        for file in files.storyboards where isFile(file, below: home) {
            let name = file.dropFirst(folder(of: file).isEmpty ? 0 : folder(of: file).count + 1)
            storyboards.append(
                (
                    String(name.dropLast(".storyboard".count)),
                    Storyboard.viewControllers(in: try readFile(files.path(file), limit: maximumSource))
                ))
        }
        return storyboards
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit

/// The products that a project's builds install.
struct Project {
    private(set) var installed: [Installed] = []
    /// Faults found while reading the project.
    private(set) var findings: [Finding] = []

    private let files: ProjectFiles
    private var reader: PropertyLists
    private var parsed: [[String]: SwiftSources] = [:]

    init(_ files: ProjectFiles) throws(Failure) {
        self.files = files
        reader = PropertyLists(files)
        var projects: [XcodeProject] = []
        for file in files.projects {
            guard let list = try reader.list(file) else { continue }
            let project = XcodeProject(list, file: file, files)
            projects.append(project)
            guard let fault = project.fault else { continue }
            findings.append(
                .error(
                    files.path(file), "\(fault), so not all of its targets were checked",
                    fix: "restore it from version control, or generate it again"))
        }
        if files.projects.isEmpty { try guess() } else { for project in projects { try add(project) } }
        findings += reader.findings
    }

    // MARK: With an Xcode project

    private mutating func add(_ project: XcodeProject) throws(Failure) {
        let apps = project.targets.filter { $0.productType.hasSuffix(".application") }
        let others = project.targets.filter { $0.productType.hasSuffix(".app-extension") }
        let embedded = Set(apps.flatMap(\.plugIns))
        for app in apps {
            for (configuration, settings) in app.configurations {
                var extensions: [Built] = []
                for target in others {
                    let isEmbedded = target.product.map(embedded.contains) ?? false
                    let isIts = isEmbedded ? app.plugIns.contains(target.product ?? "") : apps.count == 1
                    guard isIts, !target.configurations.isEmpty else { continue }
                    let own = target.configurations.first { $0.name == configuration }
                    let settings = (own ?? target.configurations[target.usual]).settings
                    if let built = try built(target, settings, project, kind: nil) { extensions.append(built) }
                }
                guard !extensions.isEmpty, let app = try built(app, settings, project, kind: .app) else { continue }
                installed.append(
                    Installed(project: project.file, configuration: configuration, app: app, extensions: extensions))
            }
        }
        let unused = others.filter { target in !apps.isEmpty && !(target.product.map(embedded.contains) ?? false) }
        for target in unused where installed.contains(where: { $0.extensions.contains { $0.name == target.name } }) {
            findings.append(
                .error(
                    files.path(project.file),
                    "no app embeds \(target.name) in its PlugIns, or only when installing, so the system does not find it",
                    fix:
                        "add it to the app's phase Embed Foundation Extensions, with 'Copy only when installing' off"
                ))
        }
    }

    /// Reads what a target has in a configuration; nil if it is no app and no notification extension.
    private mutating func built(
        _ target: XcodeProject.Target, _ settings: Settings, _ project: XcodeProject, kind: Built.Kind?
    ) throws(Failure) -> Built? {
        let info = try list("INFOPLIST_FILE", settings, project)
        guard let kind = kind ?? self.kind(of: info) else { return nil }
        return Built(
            name: target.name, kind: kind, settings: settings, info: info,
            entitlements: try list("CODE_SIGN_ENTITLEMENTS", settings, project), sources: try sources(target.sources))
    }

    /// The list that a setting names; nil if that, or the list, is unknown.
    private mutating func list(
        _ setting: String, _ settings: Settings, _ project: XcodeProject
    ) throws(Failure) -> Built.List? {
        if settings.isUnset(setting) { return Built.List(file: files.path(project.file), values: nil) }
        guard let path = settings[setting] else { return nil }
        let file = joined(project.base, path)
        guard Folder.kind(of: files.path(file), followingLinks: true) == .file, let values = try reader.list(file)
        else { return nil }
        return Built.List(file: files.path(file), values: values)
    }

    private mutating func sources(_ paths: [String]) throws(Failure) -> SwiftSources {
        if let known = parsed[paths] { return known }
        var sources = SwiftSources()
        for path in paths { sources.add(try InputFile(files.path(path)).read(limit: 1 << 24), file: files.path(path)) }
        parsed[paths] = sources
        return sources
    }

    private func kind(of info: Built.List?) -> Built.Kind? {
        let point = info?.values?["NSExtension"]?["NSExtensionPointIdentifier"]?.string
        return Built.Kind.extensions.first { $0.rawValue == point }
    }

    // MARK: Without one

    /// Takes the lists beside an extension's sources for its own, and the entitlements that remain for the app's.
    private mutating func guess() throws(Failure) {
        var extensions: [(folder: String, list: Built.List, kind: Built.Kind)] = []
        var apps: [Built.List] = []
        for file in files.propertyLists where file.hasSuffix("Info.plist") {
            guard let values = try reader.list(file) else { continue }
            let list = Built.List(file: files.path(file), values: values)
            if let kind = kind(of: list) {
                extensions.append((home(of: file), list, kind))
            } else if values["NSExtension"] == nil,
                file.hasSuffix("/Info.plist") || values["CFBundlePackageType"] != nil
            {
                apps.append(list)
            }
        }
        var rest = files.entitlements
        var installed: [Built] = []
        for (home, info, kind) in extensions {
            let own = files.entitlements.filter { home.isEmpty ? folder(of: $0).isEmpty : isFile($0, below: home) }
            rest.removeAll(where: own.contains)
            let name = home.split(separator: "/").last.map(String.init) ?? "the extension"
            installed.append(
                try guessed(name, kind, info, own, files.swiftSources.filter { isFile($0, below: home) }))
        }
        guard !installed.isEmpty else { return }
        let homes = extensions.map(\.folder)
        let sources = files.swiftSources.filter { file in !homes.contains { isFile(file, below: $0) } }
        let app = rest.isEmpty ? nil : try guessed("the app", .app, apps.count == 1 ? apps[0] : nil, rest, sources)
        self.installed.append(Installed(project: nil, configuration: nil, app: app, extensions: installed))
        if app == nil {
            findings.append(
                .warning(
                    files.root, "the app's entitlements are not here, so they were not compared with the extension's",
                    fix: "name the folder that has both"))
        }
    }

    private mutating func guessed(
        _ name: String, _ kind: Built.Kind, _ info: Built.List?, _ entitlements: [String], _ sources: [String]
    ) throws(Failure) -> Built {
        var list: Built.List?
        if let file = entitlements.first {
            // Of several, it is unknown which one counts.
            if entitlements.count == 1 {
                list = try reader.list(file).map { Built.List(file: files.path(file), values: $0) }
            }
        } else if kind == .service, let info {
            list = Built.List(file: info.file, values: nil)
        }
        return Built(
            name: name, kind: kind, settings: Settings(isIncomplete: true), info: info, entitlements: list,
            sources: try self.sources(sources))
    }

    /// The folder of an extension: that of its property list, or one above it without lists of others.
    private func home(of file: String) -> String {
        var home = folder(of: file)
        while !home.isEmpty, !files.swiftSources.contains(where: { isFile($0, below: home) }) {
            let parent = folder(of: home)
            if parent.isEmpty || files.propertyLists.contains(where: { $0 != file && isFile($0, below: parent) }) {
                break
            }
            home = parent
        }
        return home
    }
}

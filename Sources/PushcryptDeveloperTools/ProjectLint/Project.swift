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
        for file in files.projects {
            guard let list = try reader.list(file) else { continue }
            let project = XcodeProject(list, file: file, files)
            if let fault = project.fault {
                findings.append(
                    .error(
                        files.path(file), "\(fault), so not all of its targets were checked",
                        fix: "restore it from version control, or generate it again"))
            }
            try add(project)
        }
        findings += reader.findings
    }

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
}

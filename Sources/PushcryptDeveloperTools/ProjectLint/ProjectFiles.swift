internal import PushcryptCommandKit

/// The files of an app's project that say how its extensions are built, by their paths below one folder.
struct ProjectFiles {
    /// Folders written by tools or others, without the project's own files.
    private static let skipped: Set<String> = [
        "build", "DerivedData", "Pods", "Carthage", "SourcePackages", "node_modules", "xcuserdata",
    ]
    private static let skippedEndings = [
        ".xcassets", ".xcworkspace", ".framework", ".xcframework", ".app", ".appex", ".xcarchive", ".bundle", ".lproj",
    ]
    /// A folder that is deeper holds no target, and a loop of mounts ends here.
    private static let maximumDepth = 24

    /// As the person named it.
    let root: String
    private(set) var propertyLists: [String] = []
    private(set) var entitlements: [String] = []
    private(set) var projects: [String] = []
    private(set) var storyboards: [String] = []
    private(set) var swiftSources: [String] = []

    /// Looks through a folder and those below it. Links are not followed.
    init(in folder: String) throws(CommandFailure) {
        guard Folder.kind(of: folder, followingLinks: true) == .folder else {
            throw .failed("there is no folder \(quoted(folder))")
        }
        root = folder
        collect(from: "", depth: 0)
    }

    private mutating func collect(from folder: String, depth: Int) {
        for name in Folder.names(in: path(folder)) where !name.hasPrefix(".") {
            let file = folder.isEmpty ? name : "\(folder)/\(name)"
            switch Folder.kind(of: path(file)) {
            case .file: sort(file, named: name)
            case .folder where depth < Self.maximumDepth && !Self.isSkipped(name): collect(from: file, depth: depth + 1)
            default: continue
            }
        }
    }

    private mutating func sort(_ file: String, named name: String) {
        if name.hasSuffix(".plist") { propertyLists.append(file) }
        if name.hasSuffix(".entitlements") { entitlements.append(file) }
        if name == "project.pbxproj" { projects.append(file) }
        if name.hasSuffix(".storyboard") { storyboards.append(file) }
        if name.hasSuffix(".swift") { swiftSources.append(file) }
    }

    private static func isSkipped(_ name: String) -> Bool {
        // A storyboard is often in Base.lproj; strings tables are never of interest.
        skipped.contains(name) || name != "Base.lproj" && skippedEndings.contains { name.hasSuffix($0) }
    }

    /// A path that can be opened, and that no program takes for an option.
    func path(_ file: String) -> String {
        let path = file.isEmpty ? root : root.hasSuffix("/") ? root + file : "\(root)/\(file)"
        return path.hasPrefix("-") ? "./" + path : path
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit

/// The targets of one `project.pbxproj`, with their settings in each configuration.
struct XcodeProject {
    struct Target {
        let name: String
        let productType: String
        let configurations: [(name: String, settings: Settings)]
        /// The number of the configuration for which the app's name is missing here.
        let usual: Int
        /// The paths of its Swift sources, below the checked folder.
        let sources: [String]
        /// The id of its product, and those of the products that each build of it copies into PlugIns.
        let product: String?
        let plugIns: Set<String>
    }

    /// The number by which Xcode calls the folder of extensions.
    private static let plugIns = "13"

    /// The path below the checked folder, and the folder of the project, to which its paths are relative.
    let file: String
    let base: String
    private let objects: JSONValue?
    private(set) var targets: [Target] = []
    /// Why some targets cannot be found.
    private(set) var fault: String?

    init(_ project: JSONValue, file: String, _ files: ProjectFiles) {
        self.file = file
        base = folder(of: folder(of: file))
        objects = project["objects"]
        guard let root = project["rootObject"]?.string.flatMap({ project["objects"]?[$0] }),
            root["isa"]?.string == "PBXProject"
        else {
            fault = "rootObject is not a PBXProject"
            return
        }
        var paths: [String: String] = [:]
        addPaths(of: root["mainGroup"]?.string, in: base, depth: 0, to: &paths)
        let outer = levels(of: root)
        for id in root["targets"]?.elements ?? [] {
            guard let target = object(id), target["isa"]?.string == "PBXNativeTarget" else { continue }
            let name = target["name"]?.string ?? ""
            let own = levels(of: target)
            let configurations = own.map { configuration, level in
                var settings = Settings(target: name, configuration: configuration)
                for level in [outer.first { $0.name == configuration }?.level, level] {
                    guard let level else { continue }
                    let anchor = level["baseConfigurationReferenceAnchor"]?.string
                    if let reference = level["baseConfigurationReference"]?.string ?? anchor {
                        // A folder that Xcode keeps in step names the file below it.
                        let below = level["baseConfigurationReferenceRelativePath"]?.string ?? ""
                        let path = paths[reference] ?? joined(base, objects?[reference]?["path"]?.string ?? "")
                        settings.add(xcconfig: joined(path, below), files)
                    }
                    settings.add(Self.texts(level["buildSettings"]))
                }
                return (configuration, settings)
            }
            let usual = object(target["buildConfigurationList"])?["defaultConfigurationName"]?.string
            targets.append(
                Target(
                    name: name, productType: target["productType"]?.string ?? "", configurations: configurations,
                    usual: configurations.firstIndex { $0.0 == usual } ?? 0,
                    sources: sources(of: target, id.string, paths, files),
                    product: target["productReference"]?.string, plugIns: embedded(in: target)))
        }
    }

    private mutating func object(_ id: JSONValue?) -> JSONValue? {
        let found = id?.string.flatMap { objects?[$0] }
        if found == nil { fault = fault ?? "there is no object \(quoted(id?.string ?? ""))" }
        return found
    }

    // MARK: Settings

    private mutating func levels(of owner: JSONValue) -> [(name: String, level: JSONValue)] {
        var levels: [(name: String, level: JSONValue)] = []
        for id in object(owner["buildConfigurationList"])?["buildConfigurations"]?.elements ?? [] {
            if let level = object(id) { levels.append((level["name"]?.string ?? "", level)) }
        }
        return levels
    }

    private static func texts(_ settings: JSONValue?) -> [String: String] {
        let texts = (settings?.members ?? []).map { name, value in
            (name, value.string ?? value.elements.compactMap(\.string).joined(separator: " "))
        }
        return Dictionary(texts) { $1 }
    }

    // MARK: Files

    /// Finds the paths of files and folders, which are relative to the groups that they are in.
    private func addPaths(of id: String?, in folder: String, depth: Int, to paths: inout [String: String]) {
        guard let id, let item = objects?[id], depth < 64, paths[id] == nil else { return }
        let isFromGroup = item["sourceTree"]?.string == "<group>"
        let path = joined(isFromGroup ? folder : base, item["path"]?.string ?? "")
        paths[id] = path
        for child in item["children"]?.elements ?? [] {
            addPaths(of: child.string, in: path, depth: depth + 1, to: &paths)
        }
    }

    /// The Swift files that a target compiles: those of its phase, and all in its folders but the exceptions. An exception for
    /// another target's folder adds a file.
    private func sources(
        of target: JSONValue, _ id: String?, _ paths: [String: String], _ files: ProjectFiles
    ) -> [String] {
        var sources: Set<String> = []
        for file in phases(of: target, "PBXSourcesBuildPhase").flatMap({ $0["files"]?.elements ?? [] }) {
            if let reference = found(file)?["fileRef"]?.string, let path = paths[reference] { sources.insert(path) }
        }
        let own = Set((target["fileSystemSynchronizedGroups"]?.elements ?? []).compactMap(\.string))
        for (group, object) in objects?.members ?? []
        where object["isa"]?.string == "PBXFileSystemSynchronizedRootGroup" {
            guard let folder = paths[group] else { continue }
            let exceptions = (object["exceptions"]?.elements ?? []).compactMap(found).filter {
                $0["target"]?.string == id
            }
            let names = exceptions.flatMap { $0["membershipExceptions"]?.elements.compactMap(\.string) ?? [] }
            let excepted = Set(names.map { joined(folder, $0) })
            if own.contains(group) {
                sources.formUnion(files.swiftSources.filter { isFile($0, below: folder) && !excepted.contains($0) })
            } else {
                sources.formUnion(excepted)
            }
        }
        return sources.intersection(files.swiftSources).sorted()
    }

    private func embedded(in target: JSONValue) -> Set<String> {
        let phases = phases(of: target, "PBXCopyFilesBuildPhase").filter {
            $0["dstSubfolderSpec"]?.string == Self.plugIns
                && $0["runOnlyForDeploymentPostprocessing"]?.string != "1"
        }
        let files = phases.flatMap { $0["files"]?.elements ?? [] }
        return Set(files.compactMap { found($0)?["fileRef"]?.string })
    }

    private func phases(of target: JSONValue, _ kind: String) -> [JSONValue] {
        (target["buildPhases"]?.elements ?? []).compactMap(found).filter { $0["isa"]?.string == kind }
    }

    private func found(_ id: JSONValue) -> JSONValue? { id.string.flatMap { objects?[$0] } }
}

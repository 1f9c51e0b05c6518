internal import Pushcrypt
internal import PushcryptCommandKit

/// The property lists and their entitlements in the build configurations of Xcode projects.
struct XcodeSettings {
    /// A build configuration, with paths below the checked folder.
    struct Configuration {
        let infoPlist: String?
        let entitlements: String?
        let deploymentTarget: String?
    }

    /// A target with the settings of its configurations, in which the project's are merged.
    struct Target {
        struct Settings {
            let configuration: String
            /// Whether a file outside the project adds settings.
            let isIncomplete: Bool
            let values: [String: JSONValue]

            subscript(name: String) -> String? { values[name]?.string }
        }

        let name: String
        let productType: String
        /// The path of the project's `project.pbxproj`.
        let project: String
        let settings: [Settings]
        /// The property lists of its configurations, and the folders of which it takes all files, below the checked folder.
        let infoPlists: Set<String>
        let folders: [SynchronizedFolder]
        /// The products of packages that it links.
        let products: Set<String>
        /// Whether another target has the product in a phase that copies it, in debug builds too.
        var isEmbedded = false
        var isEmbeddedInDebug = false
        /// Whether a phase copies it into another folder than PlugIns.
        var isMisplaced = false
    }

    /// A folder whose files are in a target, except some.
    struct SynchronizedFolder {
        let path: String
        let exceptions: Set<String>
    }

    /// The folder of a phase that copies into PlugIns.
    private static let plugIns = "13"

    private(set) var configurations: [Configuration] = []
    private(set) var targets: [Target] = []

    /// Adds the configurations of one `project.pbxproj`. Returns what keeps its targets from being found, if anything does.
    mutating func add(_ project: JSONValue, file: String) -> String? {
        // Paths in Ext.xcodeproj/project.pbxproj are relative to the folder of Ext.xcodeproj.
        let base = folder(of: folder(of: file))
        let fault = addTargets(of: project, file, in: base)
        for (_, object) in project["objects"]?.members ?? [] {
            guard object["isa"]?.string == "XCBuildConfiguration", let settings = object["buildSettings"] else {
                continue
            }
            configurations.append(
                Configuration(
                    infoPlist: Self.path(settings["INFOPLIST_FILE"]?.string, in: base),
                    entitlements: Self.path(settings["CODE_SIGN_ENTITLEMENTS"]?.string, in: base),
                    deploymentTarget: settings["IPHONEOS_DEPLOYMENT_TARGET"]?.string))
        }
        return fault
    }

    private mutating func addTargets(of project: JSONValue, _ file: String, in base: String) -> String? {
        let objects = project["objects"]
        guard let root = project["rootObject"]?.string.flatMap({ objects?[$0] }),
            root["isa"]?.string == "PBXProject"
        else { return "rootObject is not a PBXProject" }
        var fault: String?
        func object(_ id: JSONValue) -> JSONValue? {
            let found = id.string.flatMap { objects?[$0] }
            if found == nil { fault = fault ?? "there is no object \(quoted(id.string ?? ""))" }
            return found
        }
        func settings(_ owner: JSONValue?) -> [(name: String, hasFile: Bool, values: [String: JSONValue])] {
            let list = owner?["buildConfigurationList"].flatMap(object)
            return (list?["buildConfigurations"]?.elements ?? []).compactMap { id in
                guard let configuration = object(id) else { return nil }
                let members = configuration["buildSettings"]?.members ?? []
                return (
                    configuration["name"]?.string ?? "", configuration["baseConfigurationReference"] != nil,
                    Dictionary(members.map { ($0.name, $0.value) }) { $1 }
                )
            }
        }
        let shared = settings(root)
        for reference in root["targets"]?.elements ?? [] {
            guard let target = object(reference), target["isa"]?.string == "PBXNativeTarget" else { continue }
            let id = reference.string
            let own = settings(target).map { own in
                let outer = shared.first { $0.name == own.name }
                return Target.Settings(
                    configuration: own.name, isIncomplete: own.hasFile || outer?.hasFile ?? false,
                    values: (outer?.values ?? [:]).merging(own.values) { $1 })
            }
            let folders = (target["fileSystemSynchronizedGroups"]?.elements ?? []).compactMap { group in
                let group = group.string.flatMap { objects?[$0] }
                guard let path = Self.path(group?["path"]?.string, in: base) else { return nil as SynchronizedFolder? }
                let exceptions = (group?["exceptions"]?.elements ?? []).compactMap {
                    $0.string.flatMap { objects?[$0] }
                }
                .filter { $0["target"]?.string == id }
                return SynchronizedFolder(
                    path: path,
                    exceptions: Set(
                        exceptions.flatMap { $0["membershipExceptions"]?.elements.compactMap(\.string) ?? [] }))
            }
            var found = Target(
                name: target["name"]?.string ?? "", productType: target["productType"]?.string ?? "", project: file,
                settings: own,
                infoPlists: Set(own.compactMap { Self.path($0["INFOPLIST_FILE"], in: base) }), folders: folders,
                products: Set(
                    (target["packageProductDependencies"]?.elements ?? []).compactMap { product in
                        object(product)?["productName"]?.string
                    }))
            let product = target["productReference"]?.string
            for (_, phase) in objects?.members ?? [] where phase["isa"]?.string == "PBXCopyFilesBuildPhase" {
                let files = (phase["files"]?.elements ?? []).compactMap { $0.string.flatMap { objects?[$0] } }
                guard files.contains(where: { $0["fileRef"]?.string == product && product != nil }) else { continue }
                found.isEmbedded = true
                if phase["runOnlyForDeploymentPostprocessing"]?.string != "1" { found.isEmbeddedInDebug = true }
                if phase["dstSubfolderSpec"]?.string != Self.plugIns { found.isMisplaced = true }
            }
            targets.append(found)
        }
        return fault
    }

    /// The lowest iOS version of some configurations.
    func deploymentTarget(of isMeant: (Configuration) -> Bool) -> Version? {
        configurations.filter(isMeant).compactMap(\.deploymentTarget).compactMap(Version.init).min()
    }

    private static func path(_ setting: String?, in base: String) -> String? {
        guard var path = setting, !path.isEmpty else { return nil }
        for variable in ["$(SRCROOT)/", "$(PROJECT_DIR)/", "${SRCROOT}/", "${PROJECT_DIR}/", "./"]
        where path.hasPrefix(variable) {
            path.removeFirst(variable.count)
        }
        return base.isEmpty ? path : "\(base)/\(path)"
    }
}

/// A system version; 9.0 is lower than 15.0, and 15 equals 15.0.
struct Version: Comparable, CustomStringConvertible {
    private let numbers: [Int]
    let description: String

    /// Parses numbers separated by points; nil for anything else, such as an Xcode variable.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        numbers = parts.compactMap { parseInteger($0, in: 0...Int(Int32.max)) }
        description = text
        if numbers.count != parts.count { return nil }
    }

    static func < (a: Version, b: Version) -> Bool {
        let length = max(a.numbers.count, b.numbers.count)
        return a.padded(to: length).lexicographicallyPrecedes(b.padded(to: length))
    }

    static func == (a: Version, b: Version) -> Bool { !(a < b) && !(b < a) }

    private func padded(to length: Int) -> [Int] {
        numbers + Array(repeating: 0, count: length - numbers.count)
    }
}

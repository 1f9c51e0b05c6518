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

    private(set) var configurations: [Configuration] = []

    /// Adds the configurations of one `project.pbxproj`.
    mutating func add(_ project: JSONValue, file: String) {
        // Paths in Ext.xcodeproj/project.pbxproj are relative to the folder of Ext.xcodeproj.
        let base = folder(of: folder(of: file))
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

/// The functions, constants and types that an app has to give Apple a reason for, in the five categories of "Describing use of
/// required reason API", as Swift and C spell them.
enum RequiredReason: String, CaseIterable {
    case fileTimestamp = "NSPrivacyAccessedAPICategoryFileTimestamp"
    case systemBootTime = "NSPrivacyAccessedAPICategorySystemBootTime"
    case diskSpace = "NSPrivacyAccessedAPICategoryDiskSpace"
    case activeKeyboards = "NSPrivacyAccessedAPICategoryActiveKeyboards"
    case userDefaults = "NSPrivacyAccessedAPICategoryUserDefaults"

    var names: Set<String> {
        switch self {
        case .fileTimestamp:
            [
                "creationDate", "modificationDate", "fileModificationDate", "contentModificationDate",
                "contentModificationDateKey", "creationDateKey", "NSFileCreationDate", "NSFileModificationDate",
                "NSURLCreationDateKey", "NSURLContentModificationDateKey", "getattrlist", "getattrlistbulk",
                "fgetattrlist", "getattrlistat", "stat", "fstat", "fstatat", "lstat",
            ]
        case .systemBootTime: ["systemUptime", "mach_absolute_time"]
        case .diskSpace:
            [
                "volumeAvailableCapacity", "volumeAvailableCapacityKey", "volumeAvailableCapacityForImportantUsage",
                "volumeAvailableCapacityForImportantUsageKey", "volumeAvailableCapacityForOpportunisticUsage",
                "volumeAvailableCapacityForOpportunisticUsageKey", "volumeTotalCapacity", "volumeTotalCapacityKey",
                "systemFreeSize", "systemSize", "NSFileSystemFreeSize", "NSFileSystemSize", "statfs", "statvfs",
                "fstatfs", "fstatvfs",
            ]
        case .activeKeyboards: ["activeInputModes"]
        case .userDefaults: ["UserDefaults", "NSUserDefaults", "AppStorage"]
        }
    }

    /// The categories of what some Swift uses. A comment uses nothing; a text counts, because a name in one is looked up.
    static func categories(in source: String) -> Set<RequiredReason> {
        var identifiers: Set<String> = []
        for line in source.utf8.split(separator: UInt8(ascii: "\n")) {
            let code = line.firstRange(of: "//".utf8).map { line[..<$0.lowerBound] } ?? line
            for identifier in code.split(whereSeparator: { !isIdentifier($0) }) {
                identifiers.insert(String(Substring(identifier)))
            }
        }
        return Set(allCases.filter { !$0.names.isDisjoint(with: identifiers) })
    }

    private static func isIdentifier(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: byte >= 0x80
        }
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit

/// The build settings of one target in one configuration. A variable whose value is not in the project is unknown, and never an
/// error: Xcode has more of them than files do.
struct Settings {
    /// The prefix of a team's Keychain groups, which only the signature has, and which is the same in app and extension.
    static let teamPrefix = "$(AppIdentifierPrefix)"

    private var values: [String: String] = [:]
    /// Whether some settings could not be read, so that one that is not here may be set all the same.
    private(set) var isIncomplete = false

    init(target: String, configuration: String) {
        values = ["CONFIGURATION": configuration, "CFBundleIdentifier": "$(PRODUCT_BUNDLE_IDENTIFIER)"]
        values["TARGET_NAME"] = target
        for folder in ["SRCROOT", "PROJECT_DIR"] { values[folder] = "." }
    }

    /// Adds a level: a file's or a list's settings, which take the place of earlier ones.
    mutating func add(_ level: [String: String]) {
        // A setting's own value comes before those for some systems.
        for (key, value) in level.sorted(by: { $0.key < $1.key }) {
            let name = String(key.prefix { $0 != "[" })
            let condition = key.dropFirst(name.utf8.count)
            if condition.isEmpty || condition == "[sdk=iphoneos*]" {
                let outer = values[name] ?? ""
                values[name] = replacing([("$(inherited)", outer), ("${inherited}", outer)], in: value)
            } else if values[name] == nil || !condition.hasPrefix("[sdk=") {
                values[name] = "$(\(name))"
            }
        }
    }

    /// Adds a file of settings, with those that it includes.
    mutating func add(xcconfig file: String, _ files: ProjectFiles) {
        var level: [String: String] = [:]
        if !Self.read(file, files, into: &level) { isIncomplete = true }
        add(level)
    }

    /// Whether a setting is known to have no value.
    func isUnset(_ name: String) -> Bool { values[name].map { expanded($0) == "" } ?? !isIncomplete }

    /// The value of a setting; nil if it is not set, or unknown.
    subscript(name: String) -> String? { values[name].flatMap { expanded($0) } }

    /// A text with its variables replaced; nil if one is unknown.
    func expanded(_ text: String) -> String? { expanded(text, depth: 0) }

    private func expanded(_ text: String, depth: Int) -> String? {
        var (result, rest) = ("", text[...])
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...].dropFirst()
            let isRound = rest.first == "("
            guard isRound || rest.first == "{", let end = rest.firstIndex(of: isRound ? ")" : "}"), depth < 16 else {
                return nil
            }
            let name = String(rest[..<end].dropFirst())
            if ["AppIdentifierPrefix", "TeamIdentifierPrefix"].contains(name) {
                result += Self.teamPrefix
            } else if let value = values[name], let inner = expanded(value, depth: depth + 1) {
                result += inner
            } else {
                return nil
            }
            rest = rest[end...].dropFirst()
        }
        return result + rest
    }
}

// MARK: Files of settings

extension Settings {
    /// Reads lines such as `NAME[sdk=iphoneos*] = value` and `#include "Other.xcconfig"`. Returns whether every file was there.
    private static func read(
        _ file: String, _ files: ProjectFiles, into level: inout [String: String], depth: Int = 0
    ) -> Bool {
        guard depth < 16, let text = try? InputFile(files.path(file)).read(limit: 1 << 20) else { return false }
        var isComplete = true
        for line in text.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            var line = String(decoding: line, as: UTF8.self)[...]
            if let comment = line.indices.first(where: { line[$0...].hasPrefix("//") }) { line = line[..<comment] }
            line = trimmed(line)
            if line.hasPrefix("#include") {
                let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
                guard parts.count == 3 else { continue }
                let included = joined(folder(of: file), String(parts[1]))
                let isThere = read(included, files, into: &level, depth: depth + 1)
                if !isThere, !line.hasPrefix("#include?") { isComplete = false }
                continue
            }
            // Conditions have a sign of equality too.
            let name = line.prefix { $0 != "=" && $0 != "[" }
            let conditions = line.dropFirst(name.count).first == "[" ? line.lastIndex(of: "]") : nil
            guard let equals = line[(conditions ?? line.startIndex)...].firstIndex(of: "=") else { continue }
            level[String(trimmed(line[..<equals]))] = String(trimmed(line[equals...].dropFirst()))
        }
        return isComplete
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return text
    }
}

/// A path from a folder, without `.` and, where that is possible, `..`.
func joined(_ folder: String, _ path: String) -> String {
    var parts: [Substring] = []
    for part in "\(folder)/\(path)".split(separator: "/") where part != "." {
        if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
}

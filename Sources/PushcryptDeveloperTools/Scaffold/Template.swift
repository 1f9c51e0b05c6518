/// A file of `Templates`, which are an example app's: `com.example.app`, with everything that can be chosen.
struct Template {
    /// A choice of the user. A line that ends with `// IF` and a name is there only then, with `!` before the name only without; a
    /// line of nothing else begins several such lines, and `// END` ends them.
    enum Feature: String {
        /// An own Keychain group, and not the app group; the package by its address, and not in a folder.
        case keychain, remote
        case categories, clear, communication, content, provider, timeSensitive
        /// Whether the service extension has more than the usual configuration.
        case settings
    }

    private static let mark = "// IF "

    private let lines: [Substring]

    /// Reads an embedded file.
    init(_ bytes: [UInt8]) {
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the text of an app with these features. No replacement is searched for others, and the first that fits counts.
    func text(_ features: Set<Feature>, replacing replacements: [(old: String, new: String)]) -> String {
        func isChosen(_ condition: Substring) -> Bool {
            let name = condition.drop { $0 == "!" }
            guard let feature = Feature(rawValue: String(name)) else { return false }
            return features.contains(feature) == (name.count == condition.count)
        }
        var chosen: [Substring] = []
        var isLeftOut = false
        for line in lines {
            if line == "// END" {
                isLeftOut = false
            } else if let mark = line.indices.last(where: { line[$0...].hasPrefix(Self.mark) }) {
                let isChosen = isChosen(line[mark...].dropFirst(Self.mark.count))
                if mark == line.startIndex {
                    isLeftOut = !isChosen
                } else if isChosen, !isLeftOut {
                    chosen.append(line[..<mark].dropLast(2))
                }
            } else if !isLeftOut {
                chosen.append(line)
            }
        }
        return replacing(replacements, in: chosen.joined(separator: "\n"))
    }
}

/// Returns a text in which the first replacement that fits takes the place of what it names, and none is searched for others.
func replacing(_ replacements: [(old: String, new: String)], in text: String) -> String {
    var (rest, result) = (text[...], "")
    while !rest.isEmpty {
        if let (old, new) = replacements.first(where: { rest.hasPrefix($0.old) }) {
            result += new
            rest = rest.dropFirst(old.count)
        } else {
            result.append(rest.removeFirst())
        }
    }
    return result
}

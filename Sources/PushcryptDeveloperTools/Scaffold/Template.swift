/// A file of `Templates`, which are sources of an example app: `com.example.app`, with everything that can be chosen.
struct Template {
    /// What can be chosen. A line that ends with `// IF` and a name is there only then.
    enum Feature: String {
        case categories, clear, communication, content
    }

    private static let mark = "  // IF "

    private let lines: [Substring]

    /// Reads an embedded file.
    init(_ bytes: [UInt8]) {
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the text of an app with these features. No replacement is searched for others, and the first that fits counts.
    func text(_ features: Set<Feature>, replacing replacements: [(old: String, new: String)]) -> String {
        var chosen: [Substring] = []
        for line in lines {
            guard let mark = line.ranges(of: Self.mark).last else {
                chosen.append(line)
                continue
            }
            if let feature = Feature(rawValue: String(line[mark.upperBound...])), features.contains(feature) {
                chosen.append(line[..<mark.lowerBound])
            }
        }
        return Self.replacing(replacements, in: chosen.joined(separator: "\n"))
    }

    private static func replacing(_ replacements: [(old: String, new: String)], in text: String) -> String {
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
}

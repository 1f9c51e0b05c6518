internal import Pushcrypt

/// The classes that Swift sources declare, with their superclasses and protocols.
///
/// This finds `class Name: Base, Protocol {`, `extension Name: Protocol {` and `@objc(Name)` outside comments and strings. It
/// does not parse Swift, so it does not find a macro's classes, for example.
struct SwiftClasses {
    /// The superclass and protocols of each class or extension of this name, without module names.
    private(set) var inherited: [String: [String]] = [:]
    /// The names of declared classes.
    private(set) var declared: Set<String> = []
    /// The names in `@objc(Name)`.
    private(set) var objectiveCNames: Set<String> = []

    mutating func add(_ source: ContiguousArray<UInt8>) {
        let words = SwiftWords(source).words
        for (index, word) in words.enumerated() {
            switch word {
            case "objc"
            where index > 0 && words[index - 1] == "@" && index + 2 < words.count && words[index + 1] == "(":
                objectiveCNames.insert(words[index + 2])
            case "class", "extension": addDeclaration(words[(index + 1)...], isClass: word == "class")
            default: continue
            }
        }
    }

    private mutating func addDeclaration(_ words: ArraySlice<String>, isClass: Bool) {
        // `class func` and `class var` do not declare classes, and `: class` is an old form of AnyObject.
        guard let name = words.first, name.first?.isLetter ?? (name.first == "_"), name != "func", name != "var" else {
            return
        }
        if isClass { declared.insert(name) }
        var bases = inherited[name] ?? []
        // No declaration is longer. Without a limit, a file without braces would be read to its end for each class.
        let head = words.dropFirst().prefix(256).prefix { $0 != "{" && $0 != "where" }
        if let colon = head.firstIndex(of: ":") {
            for part in head[(colon + 1)...].split(separator: ",") {
                // The last word, because of `@unchecked Sendable` and `Module.Base`.
                if let base = part.last(where: { $0.first?.isLetter ?? false }) { bases.append(base) }
            }
        }
        inherited[name] = bases
    }

    /// The superclasses and protocols of a class, through the classes that are declared here.
    func ancestors(of name: String) -> Set<String> {
        var found: Set<String> = []
        var waiting = inherited[name] ?? []
        while let next = waiting.popLast() {
            if found.insert(next).inserted { waiting += inherited[next] ?? [] }
        }
        return found
    }
}

/// The words and signs of a Swift source, without comments and strings.
struct SwiftWords {
    private(set) var words: [String] = []

    private let source: ContiguousArray<UInt8>
    private var position = 0

    init(_ source: ContiguousArray<UInt8>) {
        self.source = source
        while position < source.count {
            if skip("//") {
                while position < source.count, source[position] != UInt8(ascii: "\n") { position += 1 }
            } else if skip("/*") {
                skipComment()
            } else if skip("\"\"\"") {
                skipString(until: "\"\"\"")
            } else if skip("\"") {
                skipString(until: "\"")
            } else if Self.isPartOfWord(source[position]) {
                let start = position
                while position < source.count, Self.isPartOfWord(source[position]) { position += 1 }
                words.append(String(decoding: source[start..<position], as: UTF8.self))
            } else {
                if source[position] > 0x20 { words.append(String(decoding: [source[position]], as: UTF8.self)) }
                position += 1
            }
        }
    }

    private mutating func skip(_ text: String) -> Bool {
        guard source[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    /// Skips a comment, which may contain others.
    private mutating func skipComment() {
        var depth = 1
        while depth > 0, position < source.count {
            if skip("/*") {
                depth += 1
            } else if skip("*/") {
                depth -= 1
            } else {
                position += 1
            }
        }
    }

    /// Skips a string, which ends at the end of the line, so that an interpolated string affects only its line.
    private mutating func skipString(until quotes: String) {
        while position < source.count, !skip(quotes) {
            if quotes.utf8.count == 1, source[position] == UInt8(ascii: "\n") { return }
            position = min(position + (source[position] == UInt8(ascii: "\\") ? 2 : 1), source.count)
        }
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "_") || byte >= 0x80
    }
}

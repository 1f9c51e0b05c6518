internal import Pushcrypt
internal import PushcryptCommandKit

/// The classes of a target, and the names that it writes out where the library takes them.
///
/// This finds `class Name: Base, Protocol {`, `extension Name: Protocol {`, `@objc(Name)` and literals after a label. It does not
/// parse Swift, so it does not find a macro's classes, for example.
struct SwiftSources {
    struct Literal: Hashable {
        let file: String
        let text: String
    }

    /// The superclass and protocols of each class or extension of this name, without module names.
    private(set) var inherited: [String: [String]] = [:]
    /// The names of declared classes.
    private(set) var declared: Set<String> = []
    /// The names in `@objc(Name)`.
    private(set) var objectiveCNames: Set<String> = []
    private(set) var topics: [Literal] = []
    private(set) var appGroups: [Literal] = []
    private(set) var accessGroups: [Literal] = []
    /// All words, to see which of the library's names are used.
    private(set) var words: Set<String> = []

    mutating func add(_ source: ContiguousArray<UInt8>, file: String = "") {
        let words = SwiftWords(source).words
        self.words.formUnion(words)
        // Other libraries have types and labels of these names, too.
        let isOurs = words.contains { $0.hasPrefix("Pushcrypt") }
        // Whether a condition holds is unknown.
        var conditions = 0
        for (index, word) in words.enumerated() {
            let next = words[(index + 1)...]
            func literal(after signs: String...) -> Literal? {
                guard isOurs, conditions == 0, next.starts(with: signs), let text = next.dropFirst(signs.count).first,
                    text.hasPrefix("\""), !text.contains("\\")
                else { return nil }
                return Literal(file: file, text: String(text.dropFirst()))
            }
            switch word {
            case "#" where next.first == "if": conditions += 1
            case "#" where next.first == "endif": conditions -= 1
            case "@" where next.starts(with: ["objc", "("]) && next.count > 2:
                objectiveCNames.insert(words[index + 3])
            case "class", "extension": addDeclaration(next, isClass: word == "class")
            case "Topic": if let literal = literal(after: "(") { topics.append(literal) }
            case "AppGroup": if let literal = literal(after: "(", "identifier", ":") { appGroups.append(literal) }
            case "appGroup": if let literal = literal(after: ":") { appGroups.append(literal) }
            case "KeychainDeviceStore":
                if let literal = literal(after: "(", "accessGroup", ":") { accessGroups.append(literal) }
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

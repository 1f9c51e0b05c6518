internal import Pushcrypt

/// A project of Xcode: objects that refer to each other, in the text form with braces.
///
/// The same objects always give the same bytes. The form is that of Xcode 16 to 26 (object version 77, which has folders
/// that follow the file system); nothing here was opened in Xcode.
struct XcodeProject {
    /// A value of an object's member.
    indirect enum Value {
        case text(String)
        /// The object with this role.
        case object(String)
        case list([Value])
        case dictionary([(key: Value, value: Value)])

        static func texts(_ texts: String...) -> Value { .list(texts.map { .text($0) }) }
        static func objects(_ roles: [String]) -> Value { .list(roles.map { .object($0) }) }
        /// Build settings, in the order of their names.
        static func settings(_ settings: [String: Value]) -> Value {
            .dictionary(settings.sorted { $0.key < $1.key }.map { (.text($0.key), $0.value) })
        }
    }

    /// An object. Its role is unique in the project, and gives its identifier.
    private struct Object {
        let role: String
        let isa: String
        let comment: String
        let members: [(name: String, value: Value)]
    }

    private var objects: [Object] = []
    private var comments: [String: String] = [:]

    /// Adds an object, with its members in Xcode's order.
    mutating func add(_ role: String, _ isa: String, _ comment: String = "", _ members: [(name: String, value: Value)])
    {
        objects.append(Object(role: role, isa: isa, comment: comment, members: members))
        comments[role] = Self.comment(comment)
    }

    /// The text of `project.pbxproj`.
    func text(root: String) -> String {
        var text =
            "// !$*UTF8*$!\n{\n\tarchiveVersion = 1;\n\tclasses = {\n\t};\n\tobjectVersion = 77;\n\tobjects = {\n"
        for isa in Set(objects.map(\.isa)).sorted() {
            text += "\n/* Begin \(isa) section */\n"
            let section = objects.filter { $0.isa == isa }.sorted {
                Self.identifier($0.role) < Self.identifier($1.role)
            }
            for object in section { write(object, to: &text) }
            text += "/* End \(isa) section */\n"
        }
        return text + "\t};\n\trootObject = \(reference(root));\n}\n"
    }

    /// 24 hexadecimal digits.
    static func identifier(_ role: String) -> String {
        String(SHA256.digest(Bytes("pushcrypt scaffold \(role)".utf8).span).hex.prefix(24)).uppercased()
    }

    /// A text that does not end the comment it is in.
    private static func comment(_ text: String) -> String {
        var comment = ""
        for scalar in text.unicodeScalars {
            if scalar == "/", comment.unicodeScalars.last == "*" { comment.append(" ") }
            comment.unicodeScalars.append(scalar)
        }
        return comment
    }

    private func write(_ object: Object, to text: inout String) {
        let isOneLine = ["PBXBuildFile", "PBXFileReference"].contains(object.isa)
        let members = [(name: "isa", value: Value.text(object.isa))] + object.members
        let body = Value.dictionary(members.map { (.text($0.name), $0.value) })
        text += "\t\t\(reference(object.role)) = \(isOneLine ? line(body) : lines(body, indent: 2));\n"
    }

    private func reference(_ role: String) -> String {
        let comment = comments[role] ?? ""
        return Self.identifier(role) + (comment.isEmpty ? "" : " /* \(comment) */")
    }

    private func lines(_ value: Value, indent: Int) -> String {
        let tabs = String(repeating: "\t", count: indent)
        switch value {
        case .text(let text): return Self.quoted(text)
        case .object(let role): return reference(role)
        case .list(let values):
            return "(\n" + values.map { "\(tabs)\t\(lines($0, indent: indent + 1)),\n" }.joined() + tabs + ")"
        case .dictionary(let members):
            return "{\n"
                + members.map { "\(tabs)\t\(line($0.key)) = \(lines($0.value, indent: indent + 1));\n" }.joined() + tabs
                + "}"
        }
    }

    private func line(_ value: Value) -> String {
        switch value {
        case .text(let text): Self.quoted(text)
        case .object(let role): reference(role)
        case .list(let values): "(" + values.map { line($0) + ", " }.joined() + ")"
        case .dictionary(let members): "{" + members.map { "\(line($0.key)) = \(line($0.value)); " }.joined() + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            $0.isLetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "/")
        }
        if isPlain, !text.isEmpty { return text }
        var quoted = "\""
        for character in text {
            switch character {
            case "\\", "\"": quoted += "\\\(character)"
            case "\n": quoted += "\\n"
            default: quoted.append(character)
            }
        }
        return quoted + "\""
    }
}

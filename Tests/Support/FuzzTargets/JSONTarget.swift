@testable import Pushcrypt

/// The strict JSON reader: accepted text has the same meaning minified and rewritten, and SQLite's reader agrees.
struct JSONTarget: FuzzTarget {
    static let name = "json"

    private let other = SQLiteReader()

    func run(_ input: Bytes) {
        let theirs = input.contains(0) ? nil : other.minified(input)
        do throws(JSONError) {
            let document = try JSONDocument(parsing: input)
            checkAccepted(document, theirs: theirs)
        } catch {
            require((0...input.count).contains(error.offset), "json: an error points into the text")
            require(
                theirs == nil || isStricter(error, input),
                "json: SQLite refuses what is refused, or its reason is one to be stricter: \(error.code) at \(error.offset)"
            )
        }
    }

    /// Whether a text that SQLite takes really has what this reader refuses and SQLite's does not.
    private func isStricter(_ error: JSONError, _ text: Bytes) -> Bool {
        let place = JSONPlace(error.offset, in: text)
        return switch error.code {
        case .invalidUTF8:
            String(validating: text, as: UTF8.self) == nil
                && String(validating: text[..<error.offset], as: UTF8.self) != nil
        case .loneSurrogate: place.isHalfOfNoPair
        case .tooDeep: place.opens && place.depth == JSONDocument.maximumDepth
        case .duplicateName: other.hasNameTwice(text)
        // SQLite 3.40 takes an object or an array for the name of a member when the last thing in it is a string.
        case .unexpectedByte: place.opens && place.isForName
        default: false
        }
    }

    private func checkAccepted(_ document: JSONDocument, theirs: Bytes?) {
        let root = document.root
        require(String(validating: document.bytes, as: UTF8.self) != nil, "json: accepted text is UTF-8")
        require(Self.namesAreUnique(root), "json: no object has a name twice")
        let minified = root.minified()
        let their = theirs.flatMap { try? JSONDocument(parsing: $0).root.minified() }
        require(their == minified, "json: SQLite accepts what is accepted, and minifies it alike but for escapes")
        require(minified.count <= theirs?.count ?? 0, "json: the minified form is not longer than SQLite's")

        guard let again = try? JSONDocument(parsing: minified) else { fail("json: the minified form is accepted") }
        require(again.root.minified() == minified, "json: the minified form is a fixed point")
        require(Self.isSame(root, again.root), "json: the minified form says the same")

        var writer = JSONWriter()
        Self.write(root, to: &writer, for: nil)
        guard let written = try? JSONDocument(parsing: writer.bytes) else { fail("json: what is written is accepted") }
        require(Self.isSame(root, written.root), "json: the rewritten text means the same")
    }

    private static func namesAreUnique(_ value: JSONValue) -> Bool {
        // As bytes: of texts, Swift takes some for equal that are not the same.
        let names = value.members.map { Bytes($0.name.utf8) }
        return Set(names).count == names.count && value.members.map(\.value).allSatisfy(namesAreUnique)
            && value.elements.allSatisfy(namesAreUnique)
    }

    private static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
        guard a.kind == b.kind else { return false }
        switch a.kind {
        case .object:
            return a.members.elementsEqual(b.members) { a, b in
                a.name.utf8.elementsEqual(b.name.utf8) && isSame(a.value, b.value)
            }
        case .array: return a.elements.elementsEqual(b.elements, by: isSame)
        case .string: return a.string.map { Bytes($0.utf8) } == b.string.map { Bytes($0.utf8) }
        case .number: return a.integer == b.integer && a.double == b.double
        case .bool: return a.bool == b.bool
        case .null: return true
        }
    }

    /// Writes every name and every string from what it stands for.
    private static func write(_ value: JSONValue, to json: inout JSONWriter, for name: String?) {
        switch value.kind {
        case .object:
            json.object(for: name) { json in
                for member in value.members { write(member.value, to: &json, for: member.name) }
            }
        case .array:
            json.array(for: name) { json in
                for element in value.elements { write(element, to: &json, for: nil) }
            }
        case .string: json.string(value.string ?? "", for: name)
        case .number: json.raw(value, for: name)
        case .bool: json.bool(value.bool ?? false, for: name)
        case .null: json.null(for: name)
        }
    }
}

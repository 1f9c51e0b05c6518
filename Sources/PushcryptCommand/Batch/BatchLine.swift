internal import Pushcrypt

/// One line of a batch, taken apart: what it says to this program, and what is passed through.
struct BatchLine {
    /// The most bytes of a line.
    static let maximumLength = JSONDocument.defaultMaximumBytes

    /// One more than a payload may have, which stands inside the line.
    private static let maximumDepth = JSONDocument.maximumDepth + 1

    /// What an earlier run has added: a line that has failed can be given again as it is.
    private static let dropped: Set = ["error", "line"]

    /// What the line says, by name; believed to be of the right kind only when it is read.
    private var members: [String: JSONValue] = [:]
    /// What is passed through, in its order.
    private(set) var passed: [JSONMember] = []

    /// Reads a line; `names` are those of the members that are not passed through.
    init(_ text: ContiguousArray<UInt8>, names: Set<String>) throws(LineFailure) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(
                parsing: text, maximumBytes: Self.maximumLength, maximumDepth: Self.maximumDepth)
        } catch {
            throw LineFailure(error)
        }
        guard document.root.kind == .object else {
            throw LineFailure(.malformedLine, "a line of a batch is a JSON object")
        }
        for member in document.root.writtenMembers {
            if names.contains(member.name) {
                members[member.name] = member.value
            } else if !Self.dropped.contains(member.name) {
                passed.append(member)
            }
        }
    }

    subscript(_ name: String) -> JSONValue? { members[name] }

    /// The text of a member; nil without it.
    func text(_ name: String) throws(LineFailure) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw LineFailure(.malformedLine, "\(name) must be a string") }
        return text
    }

    /// Refuses a member to pass through that has the name of one that is written.
    func refuse(reserved names: Set<String>) throws(LineFailure) {
        guard let member = passed.first(where: { names.contains($0.name) }) else { return }
        throw LineFailure(.reservedKey, "the key \(quoted(member.name)) is one of the answer's: rename yours")
    }

    /// Writes the members of these names as they came.
    func write(_ names: [String], to json: inout JSONWriter) {
        for name in names {
            if let value = members[name] { json.raw(value.written, for: name) }
        }
    }

    /// Writes what is passed through.
    func writePassed(to json: inout JSONWriter) {
        for member in passed { json.member(member) }
    }
}

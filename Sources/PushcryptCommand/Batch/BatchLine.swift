internal import Pushcrypt
internal import PushcryptCommandKit

/// One line of a batch, taken apart: what it says to this program, and what is passed through.
struct BatchLine {
    /// The most bytes of a line.
    static let maximumLength = JSONDocument.defaultMaximumBytes

    /// One more than a payload may have, which stands inside the line.
    private static let maximumDepth = JSONDocument.maximumDepth + 1

    /// What the line says, by name; believed to be of the right kind only when it is read.
    private var members: [String: JSONValue] = [:]
    /// What is passed through, in its order.
    private(set) var passed: [JSONMember] = []
    /// A member that cannot be passed through, because the answer has one of this name.
    private var reservedName: String?

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - names: the members that are for this program, and are not passed through.
    ///   - reserved: the members that an answer may have by itself.
    init(_ text: ContiguousArray<UInt8>, names: Set<String>, reserved: Set<String>) throws(LineFailure) {
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
            } else if reserved.contains(member.name) {
                reservedName = reservedName ?? member.name
            } else {
                passed.append(member)
            }
        }
        // What an earlier run has added: a line that has failed can be given again as it is.
        if LineFailure.hasWritten(passed) { passed.removeAll { LineFailure.members.contains($0.name) } }
    }

    subscript(_ name: String) -> JSONValue? { members[name] }

    /// The text of a member; nil without it.
    func text(_ name: String) throws(LineFailure) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw LineFailure(.malformedLine, "\(name) must be a string") }
        return text
    }

    /// Refuses a line with a member that would have the name of one of the answer's.
    func refuseReserved() throws(LineFailure) {
        guard let reservedName else { return }
        let hyphenated = String(reservedName.map { $0 == "_" ? "-" : $0 })
        throw LineFailure(
            .reservedKey,
            "the key \(quoted(reservedName)) is one of the answer's: rename yours"
                + (["push-type", "collapse-id"].contains(hyphenated) ? ", or write \(hyphenated) if you mean that" : "")
        )
    }

    // What is written again has no white space between its tokens: a line break there, of whatever kind, would end the answer's
    // line for its reader.

    /// Writes the members of these names.
    func write(_ names: [String], to json: inout JSONWriter) {
        for name in names {
            if let value = members[name] { json.raw(value, for: name) }
        }
    }

    /// Writes what is passed through, but for what has a name in `others`, which the answer has already.
    func writePassed(to json: inout JSONWriter, beside others: Set<String> = []) {
        for member in passed where !others.contains(member.name) { json.member(member) }
    }
}

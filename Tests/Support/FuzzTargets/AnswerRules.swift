@testable import Pushcrypt
@testable import PushcryptCommand

/// The members that the answer to a line of a batch has to keep.
struct AnswerRules {
    let names: LineNames
    /// A line that does not begin with a brace is the name of a recipient.
    let mayBeName: Bool

    /// The kind of an answer.
    struct Answer {
        /// The program's own error.
        var error: JSONValue?
        /// The answer, where it is no error and the line is an object, of which it keeps members.
        var kept: JSONValue?
    }

    /// Checks an answer to a line.
    func check(_ text: Bytes, to line: Bytes) -> Answer {
        guard let answer = (try? JSONDocument(parsing: text, maximumDepth: 36))?.root, answer.kind == .object else {
            fail("batch: an answer is a JSON object")
        }
        require(answer.compact == text, "batch: an answer has no white space between its tokens")
        let isError = answer["error"] != nil && answer["line"] != nil && answer["payload"] == nil
        let said = isError ? answer["error"] : nil
        if mayBeName, line.first != UInt8(ascii: "{") { return Answer(error: said) }
        guard let given = (try? JSONDocument(parsing: line, maximumDepth: 33))?.root, given.kind == .object else {
            return Answer(error: said)
        }
        // A mistyped payload is not repeated.
        let hasPayload = !names.read.contains("payload") || given.member("payload") != nil
        let passed = given.members.filter { member in
            !names.added.contains(member.name) && !names.read.contains(member.name)
                && (hasPayload || !Line.isNearly("payload", member.name))
        }
        for (name, value) in passed where !["error", "line"].contains(name) {
            require(answer[name]?.compact == value.compact, "batch: what is passed through stays as it is")
        }
        let kept = passed.map(\.name).filter { !["error", "line"].contains($0) }
        let keptInAnswer = answer.members.map(\.name).filter(Set(kept).contains)
        require(kept == keptInAnswer, "batch: what is passed through stays in its order")
        require(
            isError || answer["error"] == nil && answer["line"] == nil, "batch: only an error has an error's members")
        return isError ? Answer(error: said) : Answer(kept: answer)
    }
}

extension JSONValue {
    /// The value without white space between tokens; strings keep their bytes.
    fileprivate var compact: Bytes {
        var bytes = Bytes()
        appendMinified(to: &bytes, keepingStrings: true)
        return bytes
    }
}

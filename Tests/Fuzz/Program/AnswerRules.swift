import FuzzHarness

@testable import Pushcrypt
@testable import PushcryptCommand

/// What the answer to a line of a batch has to keep of it.
struct AnswerRules {
    /// The members of a line that are for the program.
    let names: Set<String>
    /// The members that only an answer may have.
    let reserved: Set<String>
    /// A line that does not begin with a brace is the name of a recipient.
    let mayBeName: Bool

    /// Checks an answer; nil where the line is no object, so that nothing is kept.
    func check(_ text: Bytes, to line: Bytes) -> JSONValue? {
        guard let answer = (try? JSONDocument(parsing: text, maximumDepth: 36))?.root, answer.kind == .object else {
            fail("batch: an answer is a JSON object")
        }
        require(answer.minified() == text, "batch: an answer has no white space between its tokens")
        if mayBeName, line.first != UInt8(ascii: "{") { return nil }
        guard let given = (try? JSONDocument(parsing: line, maximumDepth: 33))?.root, given.kind == .object else {
            return nil
        }
        let isError = answer["error"] != nil && answer["line"] != nil && answer["payload"] == nil
        let passed = given.members.filter { !names.contains($0.name) && !reserved.contains($0.name) }
        for (name, value) in passed where !["error", "line"].contains(name) {
            require(answer[name]?.minified() == value.minified(), "batch: what is passed through stays as it is")
        }
        let kept = passed.map(\.name).filter { !["error", "line"].contains($0) }
        let keptInAnswer = answer.members.map(\.name).filter(Set(kept).contains)
        require(kept == keptInAnswer, "batch: what is passed through stays in its order")
        return isError ? nil : answer
    }
}

import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Passed-through members keep their tokens.
@Suite struct LineTests {
    private func line(
        _ text: String, _ read: Set<String>, reserved: Set<String> = [], _ console: Console? = nil
    ) -> Line {
        Line(1, ContiguousArray(text.utf8), LineForm(LineNames(read: read, added: reserved), console))
    }

    private func passed(_ line: String, reserved: Set<String> = []) throws -> String {
        let line = self.line(line, ["to", "payload"], reserved: reserved)
        var json = JSONWriter()
        json.object { json in
            json.integer(1, for: "first")
            line.writePassed(to: &json)
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test(
        "Names, numbers and strings keep their bytes, and nothing stands between tokens",
        arguments: [
            (#"{"n":1.50}"#, #","n":1.50"#), (#"{"n" : 1E400 }"#, #","n":1E400"#),
            (#"{"k\u0065y":"\u00e9\/"}"#, #","k\u0065y":"\u00e9\/""#), ("{\"a\":[1,\t2 ]}", ",\"a\":[1,2]"),
            (#"{"z":1,"to":"x","a":{"to":2}}"#, #","z":1,"a":{"to":2}"#), (#"{"to":"x"}"#, ""), ("{}", ""),
            ("{\"a\":\"\u{2028}\u{85} \"}", ",\"a\":\"\u{2028}\u{85} \""),
        ])
    func asTheyCame(line: String, expected: String) throws {
        #expect(try passed(line) == #"{"first":1"# + expected + "}")
    }

    /// Python's universal newlines, among others, end a line at a carriage return.
    @Test("A value cannot start a new line for a reader that accepts other line ends")
    func injection() throws {
        let line = "{\"to\" : [\r{\"to\":\"victim\"}\r] , \"x\" :\r{\"k\":\r{\"to\":\"victim\"}\r,\"n\"\r:\t1}}"
        #expect(try passed(line) == #"{"first":1,"x":{"k":{"to":"victim"},"n":1}}"#)
        var json = JSONWriter()
        self.line(line, ["to"]).write(["to"], to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == #""to":[{"to":"victim"}]"#)
    }

    @Test(
        "What an earlier run has added is dropped: both members together, as they are written; any other is refused",
        arguments: [
            (#"{"error":{"code":"x","message":"y"},"line":7,"kept":null}"#, #","kept":null"#),
            (#"{"line":7,"kept":null,"error":{"code":"x","message":"y"}}"#, #","kept":null"#),
            (#"{"error":{"code":"x","message":"y"}}"#, nil), (#"{"line":7}"#, nil),
            (#"{"error":{"code":"x","message":"y"},"line":"7"}"#, nil),
            (#"{"error":{"code":"x","message":"y"},"line":7.5}"#, nil), (#"{"error":{"code":"x"},"line":7}"#, nil),
            (#"{"error":{"code":"x","message":"y","more":1},"line":7}"#, nil),
            (#"{"error":{"code":1,"message":"y"},"line":7}"#, nil), (#"{"error":"x","line":7}"#, nil),
            (#"{"error":null,"line":null}"#, nil),
        ])
    func earlierRun(line: String, expected: String?) throws {
        let code = refusal(self.line(line, []))
        #expect(code == (expected == nil ? "reserved-key" : nil))
        #expect(try passed(line) == #"{"first":1"# + (expected ?? "") + "}")
    }

    @Test("No answer has an error or a line that came with its input")
    func errorAnswer() throws {
        let line = line(#"{"error":"mine","a":1,"line":"mine"}"#, [])
        var json = JSONWriter()
        json.object { line.writePassed(to: &$0) }
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"a":1}"#)
        #expect(refusal(line) == "reserved-key")
    }

    @Test("A key that is taken under its escaped name is taken")
    func escapedName() throws {
        let line = line(#"{"t\u006f":"phone1"}"#, ["to"])
        #expect(try line.text("to") == "phone1" && line.passed.isEmpty)
    }

    @Test(
        "What is no object, or no JSON, has a code",
        arguments: [
            ("7", "malformed-line"), ("[]", "malformed-line"), ("null", "malformed-line"), ("", "unexpected-end"),
            ("{", "unexpected-end"), ("{}{}", "trailing-bytes"), (#"{"a":1,"a":2}"#, "duplicate-name"),
            (#"{"a":"\ud800"}"#, "lone-surrogate"),
        ])
    func refused(line: String, code: String) {
        #expect(refusal(self.line(line, [])) == code)
    }

    @Test("A name that the answer has itself cannot be passed through")
    func reserved() throws {
        let text = #"{"a":1,"unencrypt\u0065d":true}"#
        let line = line(text, [], reserved: ["unencrypted"])
        #expect(refusal(line) == "reserved-key")
        // Nor does the refusal bring it.
        #expect(try passed(text, reserved: ["unencrypted"]) == #"{"first":1,"a":1}"#)
        let other = self.line(text, [], reserved: ["b"])
        #expect(refusal(other) == nil)
    }

    @Test(
        "A name that is nearly one for this program is passed on, with a warning",
        arguments: [
            ("tll", "ttl"), ("TTL", "ttl"), ("Payload", "payload"), ("payloads", "payload"), ("paylod", "payload"),
            ("apyload", "payload"), ("push-type", "push_type"), ("To", "to"), ("too", nil), ("t", nil), ("tt", nil),
            ("lt", nil), ("loadpay", nil), ("payloader", nil), ("", nil),
        ])
    func misspelt(name: String, meant: String?) throws {
        let captured = try CapturedConsole()
        let text = #"{"to":"phone1","payload":{},"\#(name)":"mine"}"#
        let line = line(text, Self.sealed, captured.console)
        try line.check()
        #expect(line.passed.map(\.name) == [name])
        #expect(
            try captured.messages
                == (meant.map {
                    "pushcrypt: warning: '\(name)' in a line is passed on as it is; if it means '\($0)', write that\n"
                } ?? ""))
    }

    private static let sealed: Set = ["to", "payload", "ttl", "push_type"]

    @Test("Nobody is warned twice in a run")
    func warnedOnce() throws {
        let captured = try CapturedConsole()
        for text in [#"{"tll":1,"TTL":2}"#, #"{"tll":1}"#] {
            let line = line(text, Self.sealed, captured.console)
            line.warn("another")
        }
        #expect(try captured.messages.split(separator: "\n").count == 1)
    }

    @Test(
        "What may be the payload is not repeated where there is none, and named",
        arguments: [
            (#"{"paylod":"SECRET","n":1}"#, "paylod"), (#"{"payloads":"SECRET","payload":null,"n":1}"#, "payloads"),
            (#"{"Payload":"SECRET","n":1}"#, "Payload"), (#"{"n":1}"#, nil),
        ])
    func misspeltPayload(text: String, name: String?) throws {
        let line = line(text, Self.sealed)
        #expect(line.passed.map(\.name) == ["n"])
        let error = #expect(throws: Failure.self) { try line.payload() }
        #expect(
            error?.reason == "the line has no payload" + (name.map { ": write '\($0)' as 'payload'" } ?? ""))
    }

    @Test("A member with null counts as missing")
    func null() throws {
        let line = line(#"{"ttl":null,"to":null}"#, ["to", "ttl"])
        #expect(try line.text("ttl") == nil && line.value("ttl") == nil && line["to"]?.kind == .null)
        #expect(try line.name("to") == nil && line.number("ttl") == nil)
    }

    @Test(
        "An id may be a number of digits alone, which are its text",
        arguments: [
            ("17", "17"), ("0", "0"), (#""17""#, "17"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("null", nil),
        ] as [(String, String?)])
    func numericNames(value: String, expected: String?) throws {
        let line = line(#"{"id":\#(value)}"#, ["id"])
        #expect(try line.name("id") == expected)
    }

    @Test("Any other number is not guessed at", arguments: ["-1", "17.0", "1e3", "true", "[17]", "{}"])
    func otherNames(value: String) throws {
        let line = line(#"{"id":\#(value)}"#, ["id"])
        let error = #expect(throws: Failure.self) { try line.name("id") }
        #expect(error?.reason == "id must be a string, or a number of digits alone")
    }

    private func refusal(_ line: Line) -> String? {
        do {
            try line.check()
            return nil
        } catch {
            return Failure(error).code
        }
    }

    @Test("What 'send' answers with, 'seal' refuses as a member to pass on; and what 'send' reads, it reads or refuses")
    func namesOfLaterCommands() {
        for (emission, later) in [(Emission.request, LineNames.send), (.relay, .relay)] {
            let names = LineNames.seal(emission, hasFacts: false, hasFiles: false)
            #expect(later.added.isSubset(of: names.added.union(names.read)))
            #expect(later.read.isSubset(of: names.added.union(names.read)))
        }
    }
}

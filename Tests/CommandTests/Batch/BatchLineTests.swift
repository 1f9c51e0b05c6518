import Pushcrypt
import Testing

@testable import PushcryptCommand

/// What a line passes through leaves with the bytes it came with.
@Suite struct BatchLineTests {
    private func passed(_ line: String, names: Set<String> = ["to", "payload"]) throws -> String {
        let line = try BatchLine(ContiguousArray(line.utf8), names: names)
        var json = JSONWriter()
        json.object { json in
            json.integer(1, for: "first")
            line.writePassed(to: &json)
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test(
        "Names, numbers, strings and the white space inside a value stay",
        arguments: [
            (#"{"n":1.50}"#, #","n":1.50"#), (#"{"n" : 1E400 }"#, #","n":1E400"#),
            (#"{"k\u0065y":"\u00e9\/"}"#, #","k\u0065y":"\u00e9\/""#), ("{\"a\":[1,\t2 ]}", ",\"a\":[1,\t2 ]"),
            (#"{"z":1,"to":"x","a":{"to":2}}"#, #","z":1,"a":{"to":2}"#), (#"{"to":"x"}"#, ""), ("{}", ""),
            (#"{"error":{"code":"x"},"line":7,"kept":null}"#, #","kept":null"#),
        ])
    func asTheyCame(line: String, expected: String) throws {
        #expect(try passed(line) == #"{"first":1"# + expected + "}")
    }

    @Test("A key that is taken under its escaped name is taken")
    func escapedName() throws {
        let line = try BatchLine(ContiguousArray(#"{"t\u006f":"phone1"}"#.utf8), names: ["to"])
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
        #expect(
            refusal { () throws(LineFailure) in
                _ = try BatchLine(ContiguousArray(line.utf8), names: [])
            } == code)
    }

    @Test("A name that the answer has itself cannot be passed through")
    func reserved() throws {
        let line = try BatchLine(ContiguousArray(#"{"a":1,"unencrypted":true}"#.utf8), names: [])
        #expect(refusal { () throws(LineFailure) in try line.refuse(reserved: ["unencrypted"]) } == "reserved-key")
        #expect(refusal { () throws(LineFailure) in try line.refuse(reserved: ["b"]) } == nil)
    }

    private func refusal(_ body: () throws(LineFailure) -> Void) -> String? {
        do throws(LineFailure) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }
}

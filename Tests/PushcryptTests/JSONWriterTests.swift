import Foundation
import Pushcrypt
import Testing

@Suite struct JSONWriterTests {
    private func write(_ body: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        body(&json)
        return jsonText(json.bytes)
    }

    @Test func aTextHasNoWhiteSpace() {
        let text = write { json in
            json.object { json in
                json.object(for: "aps") { json in
                    json.integer(1, for: "mutable-content")
                    json.object(for: "alert") { json in json.string("New \"message\"", for: "title") }
                    json.array(for: "empty") { _ in }
                }
                json.array(for: "list") { json in
                    json.null()
                    json.bool(true)
                    json.bool(false)
                    json.integer(Int64.min)
                    json.object { _ in }
                    json.raw(ContiguousArray("1.50".utf8))
                }
                json.null(for: "n\n")
            }
        }
        #expect(
            text
                == #"{"aps":{"mutable-content":1,"alert":{"title":"New \"message\""},"empty":[]},"#
                + #""list":[null,true,false,-9223372036854775808,{},1.50],"n\n":null}"#)
    }

    @Test func onlyWhatHasToBeIsEscaped() {
        let controls = String(String.UnicodeScalarView((0..<0x20 as Range<UInt8>).map(Unicode.Scalar.init)))
        #expect(
            write { $0.string(controls) }
                == #""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#
                + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f""#)
        #expect(write { $0.string("\"\\/") } == #""\"\\/""#)
        let others = "/'<>&\u{7F}\u{80}\u{9F}é한🚲\u{2028}\u{202E}\u{FFFF}\u{10FFFF}e\u{301}"
        #expect(write { $0.string(others) } == "\"\(others)\"")
        #expect(write { $0.string(others + "\n") } == "\"\(others)\\n\"")
    }

    @Test func aValueOfADocumentHasTheFewestBytes() throws {
        let root = try JSONDocument(#"{ "a\u0062" : [ 1.0 , "\u00e9\u009b" , { "c" : 1E400 } ], "d": [], "e": true }"#)
            .root
        #expect(
            write { json in json.object { $0.raw(root, for: "v") } }
                == "{\"v\":{\"ab\":[1.0,\"é\u{9b}\",{\"c\":1E400}],\"d\":[],\"e\":true}}")
    }
}

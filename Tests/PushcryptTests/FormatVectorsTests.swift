import Foundation
import Testing

/// A reader of vectors that passes over what it does not know would prove nothing.
@Suite struct FormatVectorsTests {
    private struct File: Codable {
        struct Case: FormatVector {
            enum Result: String, Codable {
                case opened, expired
            }

            let name: String
            let key: Hex
            let result: Result
            let payload: String?
        }

        let open: [Case]
    }

    private static func read(_ text: String) throws -> File { try FormatVectors.parse(Data(text.utf8), named: "test") }

    @Test(arguments: [
        ("no case", #"{"open":[]}"#),
        ("an unknown section", #"{"open":[{"name":"a","key":"00","result":"opened"}],"more":[]}"#),
        ("a missing section", "{}"),
        ("an unknown field", #"{"open":[{"name":"a","key":"00","result":"opened","reslut":"expired"}]}"#),
        ("a missing field", #"{"open":[{"name":"a","result":"opened"}]}"#),
        ("a null", #"{"open":[{"name":"a","key":"00","result":"opened","payload":null}]}"#),
        ("an unknown result", #"{"open":[{"name":"a","key":"00","result":"shut"}]}"#),
        ("no hexadecimal digits", #"{"open":[{"name":"a","key":"0","result":"opened"}]}"#),
        ("capital digits", #"{"open":[{"name":"a","key":"AA","result":"opened"}]}"#),
        ("no JSON", #"{"open":[{"#),
    ])
    func whatIsNotUnderstoodIsAFailure(_ fault: String, _ text: String) {
        #expect(throws: (any Error).self, "\(fault)") { try Self.read(text) }
    }
}

import Pushcrypt
import Testing

/// The parsing tests of nst/JSONTestSuite: `y_` is JSON, `n_` is not, `i_` is left to the reader.
@Suite struct JSONVectorTests {
    @Test func everyFileOfTheSuiteIsReadAsItsNameSays() throws {
        guard let files = try SharedVectors.folder("json-parsing") else { return }
        for (name, bytes) in files {
            let code = jsonRefusal(of: bytes)?.code
            #expect(isAsNamed(name, code), "\(name): \(code?.description ?? "accepted")")
        }
        #expect(!files.isEmpty)
        print("vectors: JSON parsing: \(files.count)")
    }

    private func isAsNamed(_ name: String, _ code: JSONError.Code?) -> Bool {
        switch name {
        // RFC 8259 only says that names SHOULD be unique. Two readers pick different ones of two, and the signature
        // covers bytes, not a reading of them; so a payload has no name twice.
        case "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json": code == .duplicateName
        case _ where name.hasPrefix("y_"): code == nil
        case _ where name.hasPrefix("n_"): code != nil
        // Numbers are kept as they are written, whatever their size. Everything else that is left to the reader is
        // refused: bytes that are no UTF-8, half surrogate pairs, a byte order mark, UTF-16, 500 arrays in each other.
        case _ where name.hasPrefix("i_number_"): code == nil
        case _ where name.hasPrefix("i_"): code != nil
        default: false
        }
    }
}

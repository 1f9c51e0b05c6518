import Foundation
import Testing

/// What a test of Wycheproof says about its inputs.
enum WycheproofResult: String, Decodable {
    case valid
    case invalid
    /// A library may take or refuse them; what ours does is for the test to say.
    case acceptable
}

/// One file of Wycheproof's, with the tests of all its groups in order.
///
/// An unknown result, a missing field, another algorithm, or fewer tests than the file announces is an error.
struct WycheproofFile<Case: Decodable> {
    let cases: [Case]

    private struct Content: Decodable {
        struct Group: Decodable {
            let tests: [Case]
        }

        let algorithm: String
        let numberOfTests: Int
        let testGroups: [Group]
    }

    /// Reads one file of the shared vectors. Returns nil after reporting that it was skipped.
    init?(_ name: String, algorithm: String) throws {
        guard let bytes = try SharedVectors.file(name) else { return nil }
        let content = try JSONDecoder().decode(Content.self, from: Data(bytes))
        cases = content.testGroups.flatMap(\.tests)
        try #require(content.algorithm == algorithm)
        try #require(cases.count == content.numberOfTests)
    }

    /// Runs every case, and says how many ran in the form that `make test` counts.
    func run(as name: String, _ check: (Case) throws -> Void) rethrows {
        for test in cases { try check(test) }
        #expect(!cases.isEmpty)
        print("vectors: Wycheproof \(name): \(cases.count)")
    }
}

import Foundation
import Testing

@testable import VectorKit

/// A reader of vectors that passes over what it does not know would prove nothing.
@Suite struct KitReaderTests {
    private static let group = KitGroup(
        "things", taken: ["opened"], refused: ["expired", "shut"], once: ["time"], whenTaken: ["size"],
        optional: ["told", "place"], many: ["device"], bound: [["told"]: ["opened"], ["place"]: ["opened", "shut"]],
        withholds: { $0.optional("told") == "less" })

    private static let good =
        #""name": "a", "expect": "opened", "rules": ["O-1.2"], "comment": "Why.", "time": "7", "size": "4", "body": "b""#
    private static let refused =
        #""name": "a", "expect": "expired", "rules": ["O-1.2"], "comment": "Why.", "time": "7", "body": "b""#

    /// Reads tests as the only ones of a group.
    private static func read(_ tests: String..., shared: String = "") throws -> [KitVector] {
        let objects = tests.map { "{\($0)}" }.joined(separator: ",")
        return try group.vectors(
            in: Data(#"{"group": "things", "shared": {\#(shared)}, "tests": [\#(objects)]}"#.utf8))
    }

    @Test func aTestHasWhatItsGroupSharesOrItsOwn() throws {
        let shared = #""time": "9", "device": ["a"]"#
        let own = Self.good.replacing(#""time": "7", "#, with: "")
        let other = Self.good.replacing(#""a""#, with: #""b""#) + #", "device": []"#
        let vectors = try Self.read(own, other, shared: shared)
        #expect(try vectors.map { try $0.one("time") } == ["9", "7"])
        #expect(vectors.map { $0.all("device") } == [["a"], []])
    }

    @Test(arguments: [
        ("no name", good.replacing(#""name": "a", "#, with: "")),
        ("no body", good.replacing(#", "body": "b""#, with: "")),
        ("two bodies", good + #", "pieces": ["00"]"#),
        ("an unknown member", good + #", "tmie": "8""#),
        ("a missing member", good.replacing(#""time": "7", "#, with: "")),
        ("a missing comment", good.replacing(#""comment": "Why.", "#, with: "")),
        ("no rules", good.replacing(#""rules": ["O-1.2"], "#, with: "")),
        ("an empty list of rules", good.replacing(#"["O-1.2"]"#, with: "[]")),
        ("no outcome", good.replacing(#""expect": "opened", "#, with: "")),
        ("an unknown outcome", good.replacing("opened", with: "ajar")),
        ("two outcomes", good.replacing(#""opened""#, with: #"["opened", "opened"]"#)),
        ("no member of what is taken", good.replacing(#""size": "4", "#, with: "")),
        ("a member of what is taken, of something refused", refused + #", "size": "4""#),
        ("a member of another outcome", refused + #", "place": "a""#),
        ("an optional member of what is taken, of something refused", refused + #", "told": "a""#),
        ("a list that is no list elsewhere", good + #", "told": ["a"]"#),
        ("no list, that is one elsewhere", good + #", "device": "a""#),
        ("an empty value", good.replacing(#""7""#, with: #""""#)),
        ("an empty value in a list", good + #", "device": [""]"#),
        ("a number", good.replacing(#""7""#, with: "7")),
        ("no JSON", good + "]"),
        ("a run of two bytes", good.replacing(#""body": "b""#, with: #""pieces": ["abab*2"]"#)),
        ("capital digits", good.replacing(#""body": "b""#, with: #""pieces": ["AB"]"#)),
    ])
    func whatIsNotUnderstoodIsAFailure(_ fault: String, _ test: String) {
        #expect(throws: (any Error).self, "\(fault)") { try Self.read(test) }
    }

    @Test(arguments: [
        #"{"group": "things", "shared": {}, "tests": []}"#, #"{"group": "things", "tests": [{\#(good)}]}"#,
        #"{"group": "thing", "shared": {}, "tests": [{\#(good)}]}"#,
        #"{"group": "things", "shared": {}, "tests": [{\#(good)}], "more": []}"#,
        #"{"group": "things", "shared": {}, "tests": [{\#(good)}, {\#(good)}]}"#, "[]",
    ])
    func whatIsNotTheFileOfTheGroupIsAFailure(_ file: String) {
        #expect(throws: KitVector.Failure.self) { try Self.group.vectors(in: Data(file.utf8)) }
    }

    /// A group that no test reads would prove nothing either.
    @Test func everyGroupOfTheKitIsKnown() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: KitGroup.root.path)
        #expect(files.sorted() == KitGroup.all.map { "\($0.name).json" }.sorted())
    }
}

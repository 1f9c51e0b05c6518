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

    private static func one(_ test: String) throws -> KitVector { try #require(try read(test).first) }

    @Test func whatIsUnderstoodIsRead() throws {
        let vector = try Self.one(
            #""name": "a", "expect": "opened", "rules": ["O-1.2", "O-2.1"], "comment": "Why: because.", "time": "7", "#
                + #""size": "4", "device": ["a", "b c"], "body": "\nb: c\n""#)
        #expect(vector.expect == "opened")
        #expect(vector.all("rules") == ["O-1.2", "O-2.1"])
        #expect(try vector.one("comment") == "Why: because.")
        #expect(try vector.number("time", as: UInt64.self) == 7)
        #expect(vector.all("device") == ["a", "b c"])
        #expect(vector.optional("told") == nil)
        #expect(try vector.text == "\nb: c\n")
        #expect(vector.description == "things/a")
    }

    @Test func aTestHasWhatItsGroupSharesOrItsOwn() throws {
        let shared = #""time": "9", "device": ["a"]"#
        let own = Self.good.replacing(#""time": "7", "#, with: "")
        let other = Self.good.replacing(#""a""#, with: #""b""#) + #", "device": []"#
        let vectors = try Self.read(own, other, shared: shared)
        #expect(try vectors.map { try $0.one("time") } == ["9", "7"])
        #expect(vectors.map { $0.all("device") } == [["a"], []])
    }

    @Test(
        arguments: [
            (#""00ff""#, [0, 255]), (#""00", "ff07""#, [0, 255, 7]), (#""ab*3""#, [0xab, 0xab, 0xab]), ("", []),
            (#""00*2", "01", "02*2""#, [0, 0, 1, 2, 2]),
        ] as [(String, [UInt8])])
    func piecesAreBytes(_ pieces: String, _ bytes: [UInt8]) throws {
        let test = Self.good.replacing(#""body": "b""#, with: #""pieces": [\#(pieces)]"#)
        #expect(try Self.one(test).body == ContiguousArray(bytes))
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

    @Test func aMemberStandsWithTheOutcomesItBelongsTo() throws {
        #expect(try Self.one(Self.refused).expect == "expired")
        let shut = Self.refused.replacing("expired", with: "shut") + #", "place": "a""#
        #expect(try Self.one(shut).optional("place") == "a")
    }

    @Test func whatIsRefusedOrWithheldIsRefused() throws {
        #expect(try Self.group.refuses(Self.one(Self.refused)))
        #expect(try !Self.group.refuses(Self.one(Self.good)))
        #expect(try !Self.group.refuses(Self.one(Self.good + #", "told": "more""#)))
        #expect(try Self.group.refuses(Self.one(Self.good + #", "told": "less""#)))
    }

    @Test func aValueThatIsNoNumberIsAFailure() throws {
        let vector = try Self.one(Self.good.replacing("7", with: "7x"))
        #expect(throws: KitVector.Failure.self) { try vector.number("time", as: UInt64.self) }
        #expect(throws: KitVector.Failure.self) { try vector.bytes("time") }
        #expect(throws: KitVector.Failure.self) { try vector.one("told") }
    }

    /// A group that no test reads would prove nothing either.
    @Test func everyGroupOfTheKitIsKnown() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: KitGroup.root.path)
        #expect(files.sorted() == KitGroup.all.map { "\($0.name).json" }.sorted())
    }

    /// A name is a sentence: the same one in two groups is not the same claim, but the letters are always these.
    @Test(arguments: KitGroup.all.map(\.name))
    func aNameIsASentence(_ name: String) throws {
        let group = try #require(KitGroup.all.first { $0.name == name })
        for vector in try group.vectors() {
            #expect(vector.path.dropFirst(name.count + 1).wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil, "\(vector)")
        }
    }
}

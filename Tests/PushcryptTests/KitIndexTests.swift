import Foundation
import Testing
import VectorKit

/// Every rule of the specification is proved by a test of the kit, or by a Swift test that `cases/index.py` names.
@Suite struct KitIndexTests {
    private static let package = KitGroup.root
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func read(_ path: String) throws -> String {
        try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
    }

    /// The rules that a document states or refers to, but for those of pairing, answers and relays, which have vectors of their own.
    private static func rules(in text: String) -> Set<String> {
        Set(text.matches(of: /\*\*\[([ADJKNOST]-\d+(?:\.\d+)?)\]\*\*/).map { String($0.1) })
    }

    /// The documents that state the format.
    private static let documents = ["", "Files", "Records", "Trust"].map {
        "Docs/Format\($0).md"
    }

    /// The rules of the format and, of the kit's own, those of stores.
    private static func allRules() throws -> Set<String> {
        try (documents + ["Tests/Data/Vectors/README.md"]).reduce(into: []) {
            $0.formUnion(rules(in: try read($1)))
        }
    }

    /// The vectors of each rule.
    private static func vectors() throws -> [String: Set<String>] {
        var paths: [String: Set<String>] = [:]
        for vector in try KitGroup.all.flatMap({ try $0.vectors() }) {
            for rule in vector.all("rules") { paths[rule, default: []].insert(vector.path) }
        }
        return paths
    }

    /// The rules by which a vector refuses something.
    private static func stoppingRules() throws -> Set<String> {
        try KitGroup.all.reduce(into: []) { rules, group in
            for vector in try group.vectors() where group.refuses(vector) { rules.formUnion(vector.all("rules")) }
        }
    }

    /// The generator's lists: the test of each rule that data cannot prove, and the rules by which nothing can be refused.
    private static func index() throws -> (tests: [String: String], written: Set<String>) {
        let text = try read("Tests/Data/Vectors/cases/index.py")
        let tests = text.matches(of: /\n    "([A-Z]-[\d.]+)": \("(\w+)", "\w/).map { (String($0.1), String($0.2)) }
        let written = text.matches(of: /\n    "([A-Z]-[\d.]+)": "\w/).map { String($0.1) }
        return (Dictionary(uniqueKeysWithValues: tests), Set(written))
    }

    @Test func everyRuleHasAVectorOrATest() throws {
        let proved = Set(try Self.vectors().keys)
        let tested = Set(try Self.index().tests.keys)
        let rules = try Self.allRules()
        #expect(rules.count > 100)
        #expect(proved.isDisjoint(with: tested), "rules with vectors need no test")
        #expect(proved.union(tested) == rules)
    }

    /// A rule that only good vectors name could be left out of an implementation, and all of them would still pass.
    @Test func everyRuleStopsSomethingOrTheIndexSaysWhyNot() throws {
        let stopping = try Self.stoppingRules()
        let written = try Self.index().written
        #expect(stopping.isDisjoint(with: written), "rules that stop something need no reason")
        #expect(try stopping.union(written) == Set(Self.vectors().keys))
    }

    /// How many vectors there are stands in the kit's README.
    @Test func theVectorsAreCountedRightly() throws {
        let count = try KitGroup.all.map { try $0.vectors().count }.reduce(0, +)
        let written = "\(count / 1000),\(String(count % 1000 + 1000).dropFirst())"
        #expect(try Self.read("Tests/Data/Vectors/README.md").contains("\(written) tests"))
    }

    /// Wherever the specification says MUST, it says which rule that is.
    @Test func everyMustHasANumber() throws {
        let text = try Self.documents.map(Self.read).joined(separator: "\n\n")
        let blocks = text.replacing(/\n(?=[-|] ?|\d+\. )/, with: "\n\n").components(separatedBy: "\n\n")
        let musts = blocks.filter { $0.contains("MUST") }
        #expect(musts.count > 80)
        for block in musts { #expect(block.contains("**["), "\(block)") }
    }
}

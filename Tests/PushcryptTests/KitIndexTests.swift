import Foundation
import Testing
import VectorKit

/// Every rule of the specification is proved by a file of the kit, or by a test that the index names.
@Suite struct KitIndexTests {
    private static let package = KitFolder.root
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func read(_ path: String) throws -> String {
        try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
    }

    /// The rules that a document states or refers to.
    private static func rules(in text: String) -> Set<String> {
        Set(text.matches(of: /\*\*\[([A-Z]-\d+(?:\.\d+)?)\]\*\*/).map { String($0.1) })
    }

    /// The documents that state the format.
    private static let documents = ["", "Attachments", "Messages", "Notes", "Records", "Rotation"].map {
        "Docs/Format\($0).md"
    }

    /// The rules of the format and, of the kit's own, those of stores.
    private static func allRules() throws -> Set<String> {
        try (documents + ["Tests/Data/Vectors/kit/README.md"]).reduce(into: []) {
            $0.formUnion(rules(in: try read($1)))
        }
    }

    /// Every file, read once.
    private static let kit = Result { try KitFolder.all.map { ($0, try $0.vectors()) } }

    /// The files of each rule.
    private static func vectors() throws -> [String: Set<String>] {
        var files: [String: Set<String>] = [:]
        for vector in try kit.get().flatMap(\.1) {
            for rule in vector.all("rule") { files[rule, default: []].insert(vector.path) }
        }
        return files
    }

    /// The rules by which a file refuses something.
    private static func stoppingRules() throws -> Set<String> {
        var rules: Set<String> = []
        for (folder, vectors) in try kit.get() {
            for vector in vectors where folder.refuses(vector) { rules.formUnion(vector.all("rule")) }
        }
        return rules
    }

    /// The index's entry for a rule: its files, its tests, and whether it says why no file refuses anything.
    private struct Entry {
        let files: Set<String>
        let tests: [String]
        let hasReason: Bool
    }

    private static func index() throws -> [String: Entry] {
        let sections = try read("Tests/Data/Vectors/kit/INDEX.md").components(separatedBy: "\n## ").dropFirst()
        let entries = sections.map { section in
            let rule = String(section.prefix { $0 != "\n" })
            let files = Set(section.matches(of: /\]\(([^)]+)\)/).map { String($0.1) })
            let tests = section.matches(of: /the test `(\w+)`/).map { String($0.1) }
            return (
                rule, Entry(files: files, tests: tests, hasReason: section.contains(/nothing is refused by it\. \w/))
            )
        }
        return Dictionary(uniqueKeysWithValues: entries)
    }

    @Test func everyRuleHasAVectorOrATest() throws {
        let vectors = try Self.vectors()
        let index = try Self.index()
        let rules = try Self.allRules()
        #expect(rules.count > 100)
        for rule in rules.sorted() {
            let isProved = vectors[rule] != nil || index[rule]?.tests.isEmpty == false
            #expect(isProved, "\(rule): no vector names it, and the index names no test")
        }
        #expect(Set(index.keys) == rules, "the index is not of these rules; run generate.py")
    }

    /// A rule that only good files name could be left out of an implementation, and every file would still pass.
    @Test func everyRuleStopsSomethingOrTheIndexSaysWhyNot() throws {
        let stopping = try Self.stoppingRules()
        for (rule, entry) in try Self.index() where entry.tests.isEmpty {
            #expect(
                stopping.contains(rule) != entry.hasReason,
                "\(rule): a file has to refuse something by it, or else the index says why none can")
        }
    }

    @Test func noVectorNamesARuleThatDoesNotExist() throws {
        let rules = try Self.allRules()
        for (rule, files) in try Self.vectors() where !rules.contains(rule) {
            Issue.record("\(rule) is no rule: \(files.sorted())")
        }
    }

    @Test func theIndexLinksTheVectorsThatThereAre() throws {
        let vectors = try Self.vectors()
        for (rule, entry) in try Self.index() {
            #expect(entry.files == vectors[rule] ?? [], "\(rule): run generate.py")
            #expect(entry.tests.isEmpty || entry.files.isEmpty, "\(rule) has vectors and needs no test")
        }
    }

    /// How many files there are stands in the index and on the front page.
    @Test func theFilesAreCountedRightly() throws {
        let counts = try Self.kit.get().map { ($0.0.name, $0.1.count) }
        let all = counts.map(\.1).reduce(0, +)
        let index = try Self.read("Tests/Data/Vectors/kit/INDEX.md")
        for (name, count) in counts + [("all", all)] {
            #expect(index.contains("\n| `\(name)` | \(count) |\n"), "\(name): run generate.py")
        }
        let written = "\(all / 1000),\(String(all % 1000 + 1000).dropFirst())"
        #expect(try Self.read("README.md").contains("test kit of \(written) files"))
    }

    /// A test that was renamed or deleted proves nothing any more.
    @Test func theTestsOfTheIndexExist() throws {
        let tests = Self.package.appendingPathComponent("Tests")
        let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
        var source = ""
        for case let file as URL in files where file.lastPathComponent.hasSuffix("Tests.swift") {
            source += try String(contentsOf: file, encoding: .utf8)
        }
        let named = try Self.index().flatMap { rule, entry in entry.tests.map { (rule, $0) } }
        #expect(!named.isEmpty && named.count <= 15, "tests stand in for few vectors")
        for (rule, test) in named { #expect(source.contains("func \(test)("), "\(rule): no test \(test)") }
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

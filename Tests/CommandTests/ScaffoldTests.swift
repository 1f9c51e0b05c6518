import Foundation
import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit
@testable import PushcryptDeveloperTools

/// The contents of a scaffold. `Tests/Checks/Scaffold/run.sh` builds and runs one.
@Suite struct ScaffoldTests {
    @Test(
        "A literal says what the text says, whatever is in it",
        arguments: [
            ("", #""""#), ("MESSAGE", #""MESSAGE""#), ("a#b", #""a#b""#), ("#", ##""#""##),
            (#"a"b"#, ###"#"a"b"#"###), (#"a\b"#, ###"#"a\b"#"###), (#"\(x)"#, ###"#"\(x)"#"###),
            (##"a"#b"##, ####"##"a"#b"##"####), (##"a\#(b)"##, ####"##"a\#(b)"##"####),
            (###""##"# """###, ####"###""##"# """###"####),
            // A character of two scalars, of which a compiler sees the first by itself.
            ("\"\u{301}", "#\"\"\u{301}\"#"),
        ])
    func literal(text: String, literal: String) {
        #expect(swiftLiteral(text) == literal)
    }

    @Test("A line of a template is there if its feature is, or is not")
    func template() {
        let lines = ["a", "b  // IF clear", "c  // IF !clear", "// IF content", "d", "e  // IF clear", "// END", "f 1"]
        func text(_ features: Set<Template.Feature>) -> String {
            Template(Array(lines.joined(separator: "\n").utf8)).text(features, replacing: [("1", "a"), ("a", "1")])
        }
        #expect(text([]) == "1\nc\nf a")
        #expect(text([.clear]) == "1\nb\nf a")
        #expect(text([.content]) == "1\nc\nd\nf a")
        #expect(text([.clear, .content]) == "1\nb\nd\ne\nf a")
    }

    @Test("No file has a mark of its template or the name of the example")
    func marks() throws {
        let provider = ProviderKey().publicKey
        for isFull in [false, true] {
            var scaffold = IOSScaffold(
                topic: try Topic("org.other.thing"), appGroup: "group.org.other",
                keychainGroup: isFull ? "group.org.other" : "org.keys", package: PackageLocation(folder: "/elsewhere"))
            if isFull {
                scaffold.hasContentExtension = true
                scaffold.categories = ["OTHER"]
                scaffold.provider = provider
                (scaffold.hasCommunication, scaffold.isTimeSensitive) = (true, true)
                scaffold.passesClearUntil = Timestamp(milliseconds: 1)
            }
            for file in scaffold.files + scaffold.filesForProject where !file.path.hasSuffix(".png") {
                for mark in ["// IF", "// END", "com.example", "MESSAGE", "../pushcrypt", "\"1.0.0\"", "2027-06-30"] {
                    #expect(!file.text.contains(mark), "\(file.path)")
                }
            }
        }
    }

    @Test("A bar in a category does not end a cell of the guide's table")
    func table() throws {
        let files = try StringTableTests.scaffold(["A|B", "C"])
        let guide = try #require(files.first { $0.path == "README.md" })
        #expect(guide.text.contains(#"of the categories A\|B, C |"#))
    }

    // The second file cannot be written, because the first has the name of its folder.
    private static let impossible = [ScaffoldFile(path: "a", text: "1"), ScaffoldFile(path: "a/b", text: "2")]

    @Test("A new folder appears whole or not at all")
    func wholeOrNothing() throws {
        let directory = try TemporaryDirectory()
        let folder = try ScaffoldFolder(new: directory.file("out"))
        #expect(throws: Failure.self) { try folder.write(Self.impossible) }
        #expect(try directory.names == [])
        try folder.write([ScaffoldFile(path: "a/b", text: "2"), ScaffoldFile(path: "c", text: "3")])
        #expect(try directory.names == ["out"])
        #expect(try directory.read("out/a/b") == "2")
        #expect(try directory.read("out/c") == "3")
    }

    @Test("A folder that somebody has made meanwhile is left alone")
    func race() throws {
        let directory = try TemporaryDirectory()
        let folder = try ScaffoldFolder(new: directory.file("out"))
        try directory.write("mine", to: "out")
        #expect(throws: Failure.self) { try folder.write([ScaffoldFile(path: "a", text: "1")]) }
        #expect(try directory.names == ["out"])
        #expect(try directory.read("out") == "mine")
    }

    @Test("In a folder that is there, a failure leaves everything as it was")
    func unchanged() throws {
        let directory = try TemporaryDirectory()
        try directory.write("mine", to: "mine")
        let folder = try ScaffoldFolder(existing: directory.path + "//")
        #expect(folder.path == directory.path)
        try FileManager.default.createSymbolicLink(atPath: directory.file("link"), withDestinationPath: "nowhere")
        // One that is there, one below a file, a link that leads nowhere, and one that cannot have its place.
        for path in ["mine", "mine/a", "link", "new/a"] {
            let files = [ScaffoldFile(path: "new", text: "2"), ScaffoldFile(path: path, text: "3")]
            #expect(throws: Failure.self, "\(path)") { try folder.write(files) }
            #expect(try directory.names == ["link", "mine"], "\(path)")
            #expect(try directory.read("mine") == "mine", "\(path)")
        }
        try folder.write([ScaffoldFile(path: "a/b", text: "1"), ScaffoldFile(path: "a/c", text: "b", isLink: true)])
        #expect(try directory.read("a/c") == "1")
    }
}

/// The texts of this project that users read.
@Suite struct StringTableTests {
    static func scaffold(_ categories: [String] = ["MESSAGE"]) throws -> [ScaffoldFile] {
        var scaffold = IOSScaffold(
            topic: try Topic("com.example.app"), appGroup: "group.com.example", keychainGroup: "com.example",
            package: PackageLocation(folder: ".."))
        scaffold.hasContentExtension = true
        scaffold.categories = categories
        return scaffold.files
    }

    private struct Catalogue: Decodable {
        struct Text: Decodable { let localizations: [String: Localization] }
        struct Localization: Decodable { let stringUnit: Unit }
        struct Unit: Decodable { let value: String }

        let strings: [String: Text]
    }

    private static func tables() throws -> [String: [String: String]] {
        var tables: [String: [String: String]] = [:]
        let file = try #require(try scaffold().first { $0.path == "App/Localizable.xcstrings" })
        let catalogue = try JSONDecoder().decode(Catalogue.self, from: Data(file.text.utf8))
        for (key, text) in catalogue.strings {
            for (language, value) in text.localizations {
                tables[language, default: [:]][key] = value.stringUnit.value
            }
        }
        return tables
    }

    @Test("There is a table for each language, all with the same keys, and no text is empty")
    func same() throws {
        let tables = try Self.tables()
        #expect(tables.keys.sorted() == ["ar", "en", "es", "ja", "ko"])
        let english = try #require(tables["en"])
        for (path, table) in tables {
            #expect(table.keys.sorted() == english.keys.sorted(), "\(path)")
            #expect(table.values.allSatisfy { $0.contains { !$0.isWhitespace } }, "\(path)")
            // A format would be filled with arguments that nobody gives.
            #expect(table.values.allSatisfy { !$0.contains("%") }, "\(path)")
        }
        #expect(
            Set(tables.values.map { $0["(Encrypted)"] }).count == tables.count, "a language says it in another's words")
    }

    /// The keys are the English words, so that a language without a table shows them.
    @Test("In English the fallback is what the format says")
    func english() throws {
        let english = try #require(Self.tables()["en"])
        #expect(english.allSatisfy { $0 == $1 })
        #expect(english[Placeholder.body] == "(Encrypted)")
        #expect(english[Placeholder.standardTitle] == "New message")
        #expect(FallbackTexts.standard.couldNotOpen == .plain("(Encrypted)"))
        for text in [FallbackTexts.localized.couldNotOpen, FallbackTexts.localized.notEncrypted] {
            #expect(text == .localized(key: "(Encrypted)", arguments: []))
        }
    }

    @Test("Every key that the scaffold's sources look up is in the tables")
    func used() throws {
        let files = try Self.scaffold()
        let sources = files.filter { $0.path.hasSuffix(".swift") && !$0.path.hasPrefix("Linux/") }.map(\.text).joined()
        let english = try #require(Self.tables()["en"])
        let starts = [".localized(key: \"", "NSLocalizedString(\""]
        let keys = starts.flatMap { sources.components(separatedBy: $0).dropFirst() }
            .compactMap { $0.components(separatedBy: "\"").first }
        #expect(Set(keys) == Set(english.keys))
    }
}

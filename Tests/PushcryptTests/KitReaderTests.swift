import Foundation
import Testing

@testable import VectorKit

/// A reader of vectors that passes over what it does not know would prove nothing.
@Suite struct KitReaderTests {
    private static let folder = KitFolder(
        "things", taken: ["opened"], refused: ["expired", "shut"], once: ["time"], whenTaken: ["size"],
        optional: ["told", "place"], many: ["device"], bound: [["told"]: ["opened"], ["place"]: ["opened", "shut"]],
        withholds: { $0.optional("told") == "less" })

    private static let good = "expect: opened\nrule: O-1.2\ncomment: Why.\ntime: 7\nsize: 4\n\nbody\n"
    private static let refused = "expect: expired\nrule: O-1.2\ncomment: Why.\ntime: 7\n\nbody\n"

    /// Reads these files as the only ones of a folder.
    private static func read(_ files: [String: String], folder: KitFolder = folder) throws -> [KitVector] {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let place = root.appendingPathComponent(folder.name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        for (name, text) in files { try Data(text.utf8).write(to: place.appendingPathComponent(name)) }
        return try folder.vectors(under: root)
    }

    private static func read(_ text: String) throws -> KitVector {
        try #require(try read(["a.txt": text]).first)
    }

    @Test func whatIsUnderstoodIsRead() throws {
        let vector = try Self.read(
            "expect: opened\nrule: O-1.2\nrule: O-2.1\ncomment: Why: because.\ntime: 7\nsize: 4\ndevice: a\ndevice: b c\n\n\nb: c\n\n"
        )
        #expect(vector.expect == "opened")
        #expect(vector.all("rule") == ["O-1.2", "O-2.1"])
        #expect(try vector.one("comment") == "Why: because.")
        #expect(try vector.number("time", as: UInt64.self) == 7)
        #expect(vector.all("device") == ["a", "b c"])
        #expect(vector.optional("told") == nil)
        #expect(try vector.text == "\nb: c\n")
        #expect(vector.description == "things/a.txt")
    }

    @Test(
        arguments: [
            ("00ff", [0, 255]), ("00 ff\n07", [0, 255, 7]), ("ab*3", [0xab, 0xab, 0xab]), ("", []),
            ("00*2 01 02*2", [0, 0, 1, 2, 2]),
        ] as [(String, [UInt8])])
    func piecesAreBytes(_ pieces: String, _ bytes: [UInt8]) throws {
        let head = Self.good.replacing("time: 7\n", with: "time: 7\nencoding: pieces\n")
        #expect(try Self.read(head.replacing("body", with: pieces)).body == ContiguousArray(bytes))
    }

    @Test(arguments: [
        ("no empty line", "expect: opened\n"),
        ("no newline at the end", String(good.dropLast())),
        ("an unknown header", good.replacing("time: 7\n", with: "time: 7\ntmie: 8\n")),
        ("a missing header", good.replacing("time: 7\n", with: "")),
        ("a missing comment", good.replacing("comment: Why.\n", with: "")),
        ("no rule", good.replacing("rule: O-1.2\n", with: "")),
        ("no outcome", good.replacing("expect: opened\n", with: "")),
        ("an unknown outcome", good.replacing("opened", with: "ajar")),
        ("two outcomes", good.replacing("rule", with: "expect: opened\nrule")),
        ("no header of what is taken", good.replacing("size: 4\n", with: "")),
        ("a header of what is taken, of something refused", refused.replacing("time: 7", with: "time: 7\nsize: 4")),
        ("a header of another outcome", refused.replacing("time: 7", with: "time: 7\nplace: a")),
        ("an optional header of what is taken, of something refused", refused.replacing("7\n", with: "7\ntold: a\n")),
        ("a header that stands twice", good.replacing("time: 7\n", with: "time: 7\ntime: 7\n")),
        ("an optional header that stands twice", good.replacing("time: 7\n", with: "time: 7\ntold: a\ntold: a\n")),
        ("an empty value", good.replacing("time: 7", with: "time: ")),
        ("no colon", good.replacing("time: 7", with: "time 7")),
        ("an unknown encoding", good.replacing("time: 7", with: "time: 7\nencoding: hex")),
        (
            "a run of two bytes",
            good.replacing("time: 7", with: "time: 7\nencoding: pieces").replacing("body", with: "abab*2")
        ),
        ("capital digits", good.replacing("time: 7", with: "time: 7\nencoding: pieces").replacing("body", with: "AB")),
    ])
    func whatIsNotUnderstoodIsAFailure(_ fault: String, _ text: String) {
        #expect(throws: KitVector.Failure.self, "\(fault)") { try Self.read(text) }
    }

    @Test func aHeaderStandsWithTheOutcomesItBelongsTo() throws {
        #expect(try Self.read(Self.refused).expect == "expired")
        let shut = Self.refused.replacing("expired", with: "shut").replacing("time: 7", with: "time: 7\nplace: a")
        #expect(try Self.read(shut).optional("place") == "a")
    }

    @Test func whatIsRefusedOrWithheldIsRefused() throws {
        #expect(try Self.folder.refuses(Self.read(Self.refused)))
        #expect(try !Self.folder.refuses(Self.read(Self.good)))
        #expect(try !Self.folder.refuses(Self.read(Self.good.replacing("time: 7", with: "time: 7\ntold: more"))))
        #expect(try Self.folder.refuses(Self.read(Self.good.replacing("time: 7", with: "time: 7\ntold: less"))))
    }

    @Test func aValueThatIsNoNumberIsAFailure() throws {
        let vector = try Self.read(Self.good.replacing("7", with: "7x"))
        #expect(throws: KitVector.Failure.self) { try vector.number("time", as: UInt64.self) }
        #expect(throws: KitVector.Failure.self) { try vector.bytes("time") }
        #expect(throws: KitVector.Failure.self) { try vector.one("told") }
    }

    @Test func aFolderWithoutFilesIsAFailure() {
        #expect(throws: KitVector.Failure.self) { try Self.read([String: String]()) }
        #expect(throws: KitVector.Failure.self) { try Self.read(["a.txt": Self.good, "b.json": "{}"]) }
    }

    /// A folder that no test reads would prove nothing either.
    @Test func everyFolderOfTheKitIsKnown() throws {
        let entries = try FileManager.default.contentsOfDirectory(
            at: KitFolder.root, includingPropertiesForKeys: [.isDirectoryKey])
        let names = try entries.filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
            .map(\.lastPathComponent)
        #expect(names.sorted() == KitFolder.all.map(\.name).sorted())
    }

    /// A name is a sentence: the same one in two folders is not the same claim, but the letters are always these.
    @Test(arguments: KitFolder.all.map(\.name))
    func aNameIsASentence(_ folder: String) throws {
        let files = try FileManager.default.contentsOfDirectory(
            atPath: KitFolder.root.appendingPathComponent(folder).path)
        for file in files { #expect(file.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*\.txt/) != nil, "\(file)") }
    }
}

import Foundation
import Pushcrypt
import PushcryptDeveloperTools
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Docs/Codes.md has each code, and `explain` prints what it says.
@Suite struct ExplanationTests {
    /// The codes of each area, as the types of its errors list them.
    static let codes: KeyValuePairs = [
        // A delivery's own codes; they are no error's.
        "delivery": Delivery.Outcome.all.map(\.description),
        "opening": OpenError.Code.allCases.map(\.description),
        "answers": AnswerOpener.codes.map(\.description) + [OpenError.Code.duplicate.description],
        "attachments": AttachmentError.Code.allCases.map(\.description),
        "sealing": SealError.Code.allCases.map(\.description),
        "lint": PayloadLint.Code.allCases.map(\.description),
        "batches": LineCode.allCases.map(\.description),
        "sending": SendCode.allCases.map(\.description),
        "keys": KeyError.Code.allCases.map(\.description),
        "trust": TrustError.Code.allCases.map(\.description),
        "store": KeyStoreError.Code.allCases.map(\.description),
        "enrolment": ["not-configured"] + EnrolmentNotice.allCases.map(\.rawValue)
            + EnrolmentStep.Reason.allCases.map(\.rawValue),
        "pairing": PairingError.Code.allCases.map(\.description) + ["pairing-used"],
        "categories": CategoryError.Code.allCases.map(\.description),
        // Of the C library, as in CLibraryTests, and of the packages.
        "library": ["implausible-time", "invalid-call", "buffer-too-small"],
        "json": JSONError.Code.allCases.map(\.description),
    ]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    /// The titles of the sections of codes.
    private static func sections() throws -> [String] {
        try text("Docs/Codes.md").split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
    }

    @Test("Every code is explained once in its area, and nothing else is", arguments: codes.map(\.key))
    func complete(area: String) {
        let codes = Self.codes.filter { $0.key == area }.flatMap(\.value)
        #expect(!codes.isEmpty)
        #expect(
            Explanation.all.filter { $0.areas.map(\.name).contains(area) }.map(\.code).sorted() == codes.sorted())
    }

    @Test("Every code has one section, and every section a code")
    func sections() throws {
        #expect(Explanation.areas.map(\.name) == Self.codes.map(\.key))
        #expect(try Self.sections().sorted() == Set(Self.codes.flatMap(\.value)).sorted())
    }

    @Test("The codes of every type of coded errors are in the list above")
    func types() throws {
        let test = try Self.text("Tests/CommandTests/ExplanationTests.swift")
        for folder in ["Sources", "KeyStore"] {
            let files = try #require(FileManager.default.enumerator(atPath: Self.root.appending(path: folder).path))
            for case let file as String in files where file.hasSuffix(".swift") {
                for match in try Self.text("\(folder)/\(file)").matches(of: /struct (\w+): CodedError/) {
                    #expect(test.contains("\(match.1).Code.allCases"), "\(match.1)")
                }
            }
        }
    }

    @Test("A package's error links to the section of its code")
    func packages() throws {
        struct Format: Decodable {
            struct Code: Decodable { let code: String }
            struct Texts: Decodable { let codePage: String }
            let codes: [Code]
            let texts: Texts
        }
        let json = Data(try Self.text("Sources/Languages/format.json").utf8)
        let format = try JSONDecoder().decode(Format.self, from: json)
        #expect(format.texts.codePage.hasSuffix("/Docs/Codes.md#"))
        let sections = try Self.sections()
        for code in format.codes { #expect(sections.contains(code.code), "\(code.code)") }
    }

    @Test("An explanation is a phrase and whole sentences", arguments: Explanation.all.map(\.code))
    func sentences(code: String) {
        for explanation in Explanation.of(code) {
            #expect(!explanation.areas.isEmpty && explanation.summary.count > 6 && !explanation.summary.contains("**"))
            for text in [explanation.text, explanation.fix, explanation.shown] where !text.isEmpty {
                #expect(text.hasSuffix(".") && text.first?.isLowercase == false && text.count > 6)
                #expect(!text.contains("**") && !text.contains("  "))
            }
        }
    }

    @Test("Commands and documents that explanations name exist", arguments: Explanation.all.map(\.code))
    func references(code: String) {
        for explanation in Explanation.of(code) {
            let texts = " " + [explanation.text, explanation.fix, explanation.shown].joined(separator: " ")
            for match in texts.matches(of: /[ (]'(?:pushcrypt )?([a-z]+)( [a-z]+)?[^']*'/) {
                let first = String(match.1)
                #expect(CommandTable.pushcrypt.command(at: [first]) != nil, "\(match.0)")
                guard let command = CommandTable.pushcrypt.command(at: [first]), let second = match.2,
                    !command.subcommands.isEmpty
                else { continue }
                #expect(CommandTable.pushcrypt.command(at: [first, String(second.dropFirst())]) != nil, "\(match.0)")
            }
            for match in texts.matches(of: /Docs\/[A-Za-z\/]+\.md/) {
                #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: String(match.0)).path))
            }
        }
    }
}

import Foundation
import Pushcrypt
import PushcryptDeveloperTools
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Every code has its explanation, also in the document.
@Suite struct ExplanationTests {
    /// The codes of each area, as the types of its errors list them.
    static let areas: [(area: Explanation.Area, codes: [String])] = [
        // A delivery's own codes; they are no error's.
        (.delivery, Delivery.Outcome.all.map(\.description)),
        (.opening, OpenError.Code.allCases.map(\.description)),
        (.answers, AnswerOpener.codes.map(\.description) + [OpenError.Code.duplicate.description]),
        (.attachments, AttachmentError.Code.allCases.map(\.description)),
        (.sealing, SealError.Code.allCases.map(\.description)),
        (.lint, PayloadLint.Code.allCases.map(\.description)),
        (.batches, LineError.Code.allCases.map(\.description)),
        (.sending, SendCode.allCases.map(\.description)),
        (.keys, KeyError.Code.allCases.map(\.description)),
        (.trust, TrustError.Code.allCases.map(\.description)),
        (.store, KeyStoreError.Code.allCases.map(\.description)),
        (
            .enrolment,
            ["not-configured"] + EnrolmentNotice.allCases.map(\.rawValue)
                + EnrolmentStep.Reason.allCases.map(\.rawValue)
        ),
        (.pairing, PairingError.Code.allCases.map(\.description) + ["pairing-used"]),
        (.categories, CategoryError.Code.allCases.map(\.description)),
        // Of the C library, as in CLibraryTests, and of the packages.
        (.library, ["implausible-time", "invalid-call", "buffer-too-small"]),
        (.json, JSONError.Code.allCases.map(\.description)),
    ]

    @Test("Every code is explained once in its area, and nothing else is", arguments: areas)
    func complete(area: Explanation.Area, codes: [String]) {
        #expect(!codes.isEmpty)
        let explained = Explanation.all.filter { $0.areas.contains(area) }.map(\.code)
        #expect(explained.sorted() == codes.sorted())
        // A code that is typed is found in every area.
        for code in codes { #expect(Explanation.of(code).contains { $0.areas.contains(area) }) }
    }

    @Test("Every code that a package of another language gives is explained")
    func packages() throws {
        struct Format: Decodable {
            struct Code: Decodable { let code: String }
            let codes: [Code]
        }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appendingPathComponent("Sources/Languages/format.json"))
        let codes = try JSONDecoder().decode(Format.self, from: data).codes
        #expect(!codes.isEmpty)
        for code in codes { #expect(!Explanation.of(code.code).isEmpty, "\(code.code)") }
    }

    @Test("There is no area without a test")
    func everyArea() {
        #expect(Self.areas.map(\.area) == Explanation.Area.allCases)
    }

    @Test("An explanation is a phrase and whole sentences", arguments: Explanation.all.map(\.code))
    func sentences(code: String) {
        for explanation in Explanation.of(code) {
            #expect(!explanation.summary.hasSuffix(".") && !explanation.summary.contains("\n"))
            for text in [explanation.cause, explanation.fix, explanation.shown].compactMap(\.self) {
                #expect(text.hasSuffix(".") && text.first?.isLowercase == false && text.count > 6)
                #expect(!text.contains("  ") && !text.contains("\n"))
                #expect(text.unicodeScalars.allSatisfy { $0.isASCII || $0 == "…" })
            }
        }
    }

    @Test("Commands and documents that explanations name exist", arguments: Explanation.all.map(\.code))
    func references(code: String) {
        for explanation in Explanation.of(code) {
            let texts = " " + [explanation.cause ?? "", explanation.fix, explanation.shown].joined(separator: " ")
            for match in texts.matches(of: /[ (]'(?:pushcrypt )?([a-z]+)( [a-z]+)?[^']*'/) {
                let first = String(match.1)
                #expect(CommandTable.pushcrypt.command(at: [first]) != nil, "\(match.0)")
                guard let command = CommandTable.pushcrypt.command(at: [first]), let second = match.2,
                    !command.subcommands.isEmpty
                else { continue }
                #expect(CommandTable.pushcrypt.command(at: [first, String(second.dropFirst())]) != nil, "\(match.0)")
            }
            for match in texts.matches(of: /Docs\/[A-Za-z]+\.md/) {
                #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: String(match.0)).path))
            }
        }
    }

    @Test("The document explains every code once in each of its meanings, below the title of its area")
    func document() throws {
        let written = try outcome(["explain", "--markdown"], table: .pushcrypt)
        #expect(written.exit == .done)
        let lines = written.output.components(separatedBy: "\n")
        let titles = lines.filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) }
        #expect(titles == Explanation.Area.allCases.map(\.title))
        let codes = lines.compactMap { $0.firstMatch(of: #/^\*\*`([a-z0-9-]+)`\*\*: /#).map { String($0.1) } }
        #expect(codes.sorted() == Explanation.all.map(\.code).sorted())
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
}

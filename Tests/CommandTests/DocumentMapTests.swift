import Foundation
import Testing

/// The documents as a whole: that they can be found, that what they point at is there, and that they name this version.
@Suite struct DocumentMapTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func text(of path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    /// All documents in Markdown, below the root.
    private static let documents: [String] = {
        let below = ["Docs", "Sources", "Tests"].flatMap { folder in
            (FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.compactMap { $0 as? String }
                ?? [])
                .filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
        }
        return ["README.md"] + below.sorted()
    }()

    /// The lines of a document outside of code, and those in it.
    private static func lines(of path: String) throws -> (prose: [String], code: [String]) {
        var lines: (prose: [String], code: [String]) = ([], [])
        var isCode = false
        for line in try text(of: path).components(separatedBy: "\n") {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
            } else if isCode || line.hasPrefix("    ") {
                lines.code.append(line)
            } else {
                lines.prose.append(line)
            }
        }
        return lines
    }

    /// The anchors of links to each heading, as the hosts of repositories make them.
    private static func anchors(of path: String) throws -> Set<String> {
        Set(
            try lines(of: path).prose.filter { $0.hasPrefix("#") }.map { heading in
                let title = heading.drop { $0 == "#" }.dropFirst()
                return String(title.lowercased().compactMap { $0 == " " ? "-" : "`.,:?!'()/…".contains($0) ? nil : $0 })
            })
    }

    /// The targets of the links in a line: `[text](target)`.
    private static func links(in line: String) -> [String] {
        line.components(separatedBy: "](").dropFirst().compactMap { $0.components(separatedBy: ")").first }
    }

    @Test("A link leads to a file that is there, and to a heading of it", arguments: documents)
    func links(document: String) throws {
        let folder = Self.root.appending(path: document).deletingLastPathComponent()
        for link in try Self.lines(of: document).prose.flatMap(Self.links) where !link.hasPrefix("http") {
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let target =
                parts[0].isEmpty ? Self.root.appending(path: document) : folder.appending(path: parts[0]).standardized
            #expect(FileManager.default.fileExists(atPath: target.path), "\(link)")
            guard parts.count == 2, target.path.hasSuffix(".md") else { continue }
            let path = String(target.path.dropFirst(Self.root.path.count + 1))
            #expect(try Self.anchors(of: path).contains(parts[1]), "\(link)")
        }
    }

    @Test("The map of the documents names each of them, once")
    func map() throws {
        let rows = try Self.lines(of: "Docs/README.md").prose.filter { $0.hasPrefix("[") && $0.contains(" | ") }
        let named = rows.compactMap { Self.links(in: $0).first }
        #expect(Set(named).count == named.count, "a document stands twice")
        for document in Self.documents where document.hasPrefix("Docs/") && document != "Docs/README.md" {
            let path = document.dropFirst("Docs/".count)
            let isNamed = named.contains(String(path))
            // A folder has a README that names the rest.
            let folder = path.split(separator: "/").first.map { "\($0)/README.md" }
            #expect(isNamed || path.contains("/") && folder.map(named.contains) == true, "\(document)")
        }
    }

    @Test("Every target of make that a document names is in the Makefile", arguments: documents)
    func targets(document: String) throws {
        let lines = try Self.text(of: "Makefile").components(separatedBy: "\n")
        let targets = Set(
            lines.filter { $0.contains(": ") && $0.contains("## ") }.compactMap { $0.split(separator: ":").first })
        #expect(targets.contains("test"))
        let (prose, code) = try Self.lines(of: document)
        let text = (code.map { "`" + $0.drop { $0 == " " } } + prose).joined(separator: "\n")
        let typed = ["`make ", "&& make ", "sudo make "].flatMap { start in
            text.components(separatedBy: start).dropFirst().compactMap { rest in
                rest.split(maxSplits: 1, whereSeparator: { !($0.isLetter || $0 == "-") }).first
            }
        }
        // One pattern makes all that begin like this.
        for target in typed where !target.hasPrefix("setup-") { #expect(targets.contains(target), "make \(target)") }
    }

    @Test("The newest entry of the changelog is of this version")
    func changelog() throws {
        let newest = try #require(try Self.lines(of: "Docs/Changelog.md").prose.first { $0.hasPrefix("## ") })
        let version = try #require(newest.dropFirst(3).split(separator: ",").first)
        let transcript = try Transcript(name: "version", text: "$ pushcrypt --version\n> pushcrypt \(version) …")
        #expect(try transcript.differences(program: builtProgram()) == [])
    }
}

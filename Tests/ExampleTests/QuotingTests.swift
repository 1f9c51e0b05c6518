import Foundation
import Testing

/// The documents quote sources that are compiled: those of Tests/Examples, the tests here and those of Tests/CatalogueTests.
@Suite struct QuotingTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func files(_ folders: [String], _ end: String) throws -> [String: String] {
        var files: [String: String] = [:]
        for folder in folders {
            let place = root.appending(path: folder)
            let names = try #require(FileManager.default.enumerator(atPath: place.path), "\(folder)")
            for case let name as String in names where name.hasSuffix(end) {
                files["\(folder)/\(name)"] = try String(contentsOf: place.appending(path: name), encoding: .utf8)
            }
        }
        return files
    }

    /// Swift blocks by where they stand, but for a manifest, which `make check PART=readme` follows.
    private static func blocks() throws -> [(place: String, lines: [Substring])] {
        var documents = try files(["Docs", "Sources", "KeyStore"], ".md")
        documents["README.md"] = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        return documents.filter { !$0.key.hasPrefix("Sources/") || $0.key.contains(".docc/") }.flatMap { name, text in
            var blocks: [(place: String, lines: [Substring])] = []
            // The spaces before a block that belongs to an item of a list.
            var indent: Int?
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let spaces = line.prefix { $0 == " " }.count
                if line.dropFirst(spaces) == "```swift" {
                    blocks.append(("\(name):\(number + 1)", []))
                    indent = spaces
                } else if line.dropFirst(spaces).hasPrefix("```") {
                    indent = nil
                } else if let indent {
                    blocks[blocks.count - 1].lines.append(line.dropFirst(min(indent, spaces)))
                }
            }
            return blocks.filter { $0.lines.first?.hasPrefix("// swift-tools-version") == false }
        }
    }

    /// Whether a source has the lines one after another, all of them indented by as much.
    private static func has(_ source: [Substring], _ lines: [Substring]) -> Bool {
        [0, 4, 8].contains { width in
            let indent = String(repeating: " ", count: width)
            return source.firstRange(of: lines.map { $0.isEmpty ? "" : indent + $0 }[...]) != nil
        }
    }

    @Test func everyExampleIsCompiled() throws {
        let sources = try Self.files(["Tests/Examples", "Tests/ExampleTests", "Tests/CatalogueTests"], ".swift")
            .mapValues { $0.split(separator: "\n", omittingEmptySubsequences: false) }
        let blocks = try Self.blocks()
        #expect(blocks.count > 30)
        var quoted: Set<String> = []
        for block in blocks {
            let names = sources.filter { Self.has($0.value, block.lines) }.map(\.key)
            #expect(!names.isEmpty, "\(block.place): no source below Tests has these lines")
            quoted.formUnion(names)
        }
        // Examples that no document shows are deleted, except those that others call.
        let helpers = ["AddressBook", "Old", "Server", "Vendor"].map { "/\($0).swift" }
        for name in sources.keys.sorted()
        where name.contains("/Examples/") && !helpers.contains(where: { name.hasSuffix($0) }) {
            #expect(quoted.contains(name), "no document quotes \(name)")
        }
    }
}

import Foundation
import FuzzTargets
import Glibc
import Pushcrypt
import Testing

/// Every seed of every fuzz target, without libFuzzer.
@Suite struct CorpusTests {
    /// Tests/Data/Corpus.
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Data/Corpus")

    /// One a line, in base64; a name may follow.
    private static func seeds(of target: String) throws -> [Bytes] {
        let text = try String(contentsOf: folder.appending(path: "\(target).txt"), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            let base64 = String(line.prefix { $0 != " " })
            return Bytes(try #require(Data(base64Encoded: base64), "\(target): no base64: \(line)"))
        }
    }

    /// In another process, because a property that does not hold ends it.
    @Test(arguments: FuzzTargets.all.map { $0.name }) func everySeedKeepsTheProperties(_ target: String) async throws {
        let count = try Self.seeds(of: target).count
        #expect(count > 0)
        let log = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(target)-\(UUID()).log").path
        defer { try? FileManager.default.removeItem(atPath: log) }
        await #expect(processExitsWith: .success) { [target = target as String, log = log as String] in
            // The text of a crash is read there.
            try #require(unsafe dup2(open(log, O_WRONLY | O_CREAT | O_EXCL, 0o600), STDERR_FILENO) == STDERR_FILENO)
            let type = try #require(FuzzTargets.all.first { $0.name == target })
            let tried = type.init()
            for seed in try Self.seeds(of: target) {
                FileHandle.standardError.write(Data("seed: \(Data(seed).base64EncodedString())\n".utf8))
                tried.run(seed)
            }
            try FileManager.default.removeItem(atPath: log)
        }
        if let text = try? String(contentsOfFile: log, encoding: .utf8) {
            let lines = text.split(separator: "\n")
            let fault = lines.first { $0.hasPrefix("fault: ") } ?? "it crashed"
            Issue.record("\(fault); \(lines.last { $0.hasPrefix("seed: ") } ?? "no seed was tried")")
        }
        print("fuzz: \(target): \(count)")
    }

    @Test func everyCorpusHasATarget() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.sorted() == FuzzTargets.all.map { "\($0.name).txt" }.sorted())
    }
}

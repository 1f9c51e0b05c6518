import Foundation

/// The server of `attachment-server.py`, in a separate process.
final class AttachmentServer: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    let port: Int

    /// Serves the files of a folder, over TLS if given a certificate.
    init(_ folder: URL, certificate: (file: URL, key: URL)? = nil) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("attachment-server.py")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["python3", script.path, folder.path] + (certificate.map { [$0.file.path, $0.key.path] } ?? [])
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CocoaError(.fileReadUnknown)
        }
        self.port = port
    }

    /// The paths of the requests so far, this one included.
    var log: String {
        URL(string: "http://127.0.0.1:\(port)/log").flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? ""
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

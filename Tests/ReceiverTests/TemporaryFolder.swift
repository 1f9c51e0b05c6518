import Foundation

/// A folder of one test, its owner's alone, removed with its last reference.
///
/// In memory where the system has such a place: what is tested here is what the files hold, and a disk would spend nine
/// tenths of the time on waiting.
final class TemporaryFolder: Sendable {
    private static let root: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        return FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    }()

    let path: String

    init() throws {
        path = Self.root.appendingPathComponent("pushcrypt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    func file(_ name: String) -> URL { URL(fileURLWithPath: path(of: name)) }

    func path(of name: String) -> String { "\(path)/\(name)" }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

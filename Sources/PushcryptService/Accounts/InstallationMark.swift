internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore

/// A random id in the app's own container, which goes with the app while the Keychain stays: accounts with another id
/// were left by an earlier installation. Not run on Apple systems.
struct InstallationMark: Sendable {
    let url: URL

    /// The file `pushcrypt/installation` in the app's Application Support folder.
    static func inApplicationSupport() throws(KeyStoreError) -> InstallationMark {
        try attempt {
            let folder = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            return InstallationMark(url: folder.appendingPathComponent("pushcrypt/installation", isDirectory: false))
        }
    }

    /// Returns the id, and draws one if there is none. A file that cannot be read is not taken for missing.
    func read() throws(KeyStoreError) -> String {
        try Self.attempt {
            do {
                return String(decoding: try Data(contentsOf: url), as: UTF8.self)
            } catch CocoaError.fileReadNoSuchFile {
                return try draw()
            }
        }
    }

    private static func attempt<R>(_ body: () throws -> R) throws(KeyStoreError) -> R {
        do { return try body() } catch {
            throw KeyStoreError(.inputOutput, "the mark of this installation: \(ServiceFiles.text(for: error))")
        }
    }

    private func draw() throws -> String {
        let id = Sodium.randomBytes(16).hex
        var folder = url.deletingLastPathComponent()
        try FileManager.default.makePrivateDirectory(at: folder)
        #if os(Linux)
            try Data(id.utf8).write(to: url, options: .atomic)
        #else
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try folder.setResourceValues(values)
            // A file that is protected would seem to be missing before the first unlock.
            try Data(id.utf8).write(to: url, options: [.atomic, .noFileProtection])
        #endif
        return id
    }
}

package import Foundation
package import PushcryptReceiver

/// The file with an app's enrolment state, in the app's own container.
///
/// Each write replaces it atomically. It is excluded from backups and readable after the first unlock. It must not be
/// in an app group, because it must be deleted when the app is removed. Not run on Apple systems.
package struct EnrolmentFile: Hashable, Sendable {
    /// The location of the file.
    package let url: URL

    /// Creates a reference to a file. Use a separate folder: writing excludes the whole folder from backups.
    package init(at url: URL) { self.url = url }

    /// Returns the file `pushcrypt/enrolment.json` in the app's Application Support folder.
    ///
    /// - Throws: Foundation's errors.
    package static func inApplicationSupport() throws -> EnrolmentFile {
        let folder = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        return EnrolmentFile(at: folder.appendingPathComponent("pushcrypt/enrolment.json", isDirectory: false))
    }

    /// Reads the state. An unreadable file is not treated as missing, so that keys are never deleted because of it.
    package func read() -> SavedEnrolment {
        do {
            return .text(ContiguousArray(try Data(contentsOf: url)))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return .none
        } catch {
            return .unreadable
        }
    }

    /// Replaces the saved state.
    ///
    /// - Throws: Foundation's errors; the previous state is then still saved.
    package func write(_ state: EnrolmentState) throws {
        var folder = url.deletingLastPathComponent()
        try FileManager.default.makePrivateDirectory(at: folder)
        #if os(Linux)
            try Data(state.json).write(to: url, options: .atomic)
        #else
            // Each write creates a new file, but the folder stays.
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try folder.setResourceValues(values)
            try Data(state.json).write(
                to: url, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
        #endif
    }
}

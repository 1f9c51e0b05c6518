public import Foundation
public import PushcryptReceiver

/// The file in which an app keeps its enrolment state, in its own container.
///
/// It is replaced in one step, kept out of backups, and readable from the first unlock on. It must not lie in an app group:
/// it has to go when the app is removed. Not run on Apple systems.
public struct EnrolmentFile: Hashable, Sendable {
    /// Where it is.
    public let url: URL

    /// Takes a place for the file; the folder it is in becomes the file's own.
    public init(at url: URL) { self.url = url }

    /// The file `pushcrypt/enrolment.json` in the app's folder for application support; throws Foundation's errors.
    public static func inApplicationSupport() throws -> EnrolmentFile {
        let folder = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        return EnrolmentFile(at: folder.appendingPathComponent("pushcrypt/enrolment.json", isDirectory: false))
    }

    /// Reads what is there. What cannot be read is not taken for missing: keys are never deleted for that.
    public func read() -> SavedEnrolment {
        do {
            return .text(ContiguousArray(try Data(contentsOf: url)))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return .none
        } catch {
            return .unreadable
        }
    }

    /// Writes the state in the place of what is there; throws Foundation's errors, and then the old one is still there.
    public func write(_ state: EnrolmentState) throws {
        var folder = url.deletingLastPathComponent()
        try FileManager.default.makePrivateDirectory(at: folder)
        #if os(Linux)
            try Data(state.json).write(to: url, options: .atomic)
        #else
            // The file is another one after each write, the folder is not.
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try folder.setResourceValues(values)
            try Data(state.json).write(
                to: url, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
        #endif
    }
}

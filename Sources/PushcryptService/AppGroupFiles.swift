internal import Foundation
public import PushcryptKeyStore

// What the extension has left in the group for the app. Not run on Apple systems.
extension AppGroup {
    /// What the extension has learnt from messages; the app takes it in with `fold` at each launch.
    ///
    /// Throws `AppGroup.Missing`, and Foundation's errors when the group's directory cannot be made.
    public func statements() throws -> StatementFile { StatementFile(in: try madeDirectory()) }

    /// How the extension's deliveries ended.
    ///
    /// Throws `AppGroup.Missing`, and Foundation's errors when the group's directory cannot be made.
    public func journal() throws -> JournalFile { JournalFile(in: try madeDirectory()) }

    private func madeDirectory() throws -> String {
        let directory = try directory()
        try FileManager.default.makePrivateDirectory(at: directory)
        return directory.path
    }
}

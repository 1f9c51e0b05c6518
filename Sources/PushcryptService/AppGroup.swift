public import Foundation
package import Pushcrypt
public import PushcryptKeyStore

/// A directory shared by an app and its extensions.
public struct AppGroup: Hashable, Sendable {
    /// The identifier in the entitlement, for example `group.com.example`.
    public let identifier: String

    /// Creates a reference to an app group. Does not check that it exists.
    public init(identifier: String) { self.identifier = identifier }

    /// Returns the directory of this package in the group.
    ///
    /// On Apple systems this is the folder `pushcrypt` in the group's container. Elsewhere the environment variable
    /// `PUSHCRYPT_APP_GROUPS` names a folder that contains a folder for each group. Not run on Apple systems.
    ///
    /// - Throws: `AppGroup.Missing`.
    public func directory() throws -> URL {
        guard let container else { throw Missing(identifier: identifier) }
        return container.appendingPathComponent("pushcrypt", isDirectory: true)
    }

    /// The error for a group that this process does not belong to.
    public struct Missing: Error, Hashable, CustomStringConvertible {
        /// The identifier that the caller gave.
        public let identifier: String

        /// The problem and how to fix it.
        public var description: String {
            "no app group \(identifier): add it to the App Groups capability of both targets, the app and the extension"
        }
    }

    #if os(Linux)
        private var container: URL? {
            guard let groups = ProcessInfo.processInfo.environment["PUSHCRYPT_APP_GROUPS"], !identifier.isEmpty else {
                return nil
            }
            return URL(fileURLWithPath: groups, isDirectory: true)
                .appendingPathComponent(identifier, isDirectory: true)
        }
    #else
        private var container: URL? {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: identifier)
        }
    #endif
}

// The extension's database in the group, for the app. Not run on Apple systems.
extension AppGroup {
    /// Merges what the extension has learned from messages into the app's key store: `ExtensionDatabase.merge`. The system
    /// does not suspend the process meanwhile, or the merge ends: a suspended process with a lock on the file would be
    /// killed. `PushAccounts` calls it at each update.
    ///
    /// - Throws: `AppGroup.Missing`, Foundation's error if the directory cannot be created, and those of the merge.
    package func mergeLearned<Store: DeviceKeyStore>(
        into store: Store, at now: Timestamp
    ) throws -> ExtensionDatabase.MergeResult { try Self.merge(try database(), into: store, at: now, .system) }

    static func merge<Store: DeviceKeyStore>(
        _ database: ExtensionDatabase, into store: Store, at now: Timestamp, _ activity: ExpiringActivity
    ) throws(KeyStoreError) -> ExtensionDatabase.MergeResult {
        try activity.run("merging what was learned", expired: database.interruption.stop) { () throws(KeyStoreError) in
            try database.merge(into: store, at: now)
        }
    }

    /// Returns the journal of the extension's deliveries.
    ///
    /// - Throws: `AppGroup.Missing`, or Foundation's error if the directory cannot be created.
    public func journal() throws -> Journal { try database().journal }

    private func database() throws -> ExtensionDatabase {
        let directory = try directory()
        try FileManager.default.makePrivateDirectory(at: directory)
        return ExtensionDatabase(in: directory.path)
    }
}

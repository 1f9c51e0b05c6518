public import Foundation
public import Pushcrypt
public import PushcryptKeyStore

/// A directory shared by an app and its extensions, and by no other app of the group.
public struct AppGroup: Hashable, Sendable {
    /// The identifier in the entitlement, for example `group.com.example`.
    package let identifier: String
    /// The bundle id of the app.
    public let topic: Topic

    /// Creates a reference to an app group. Does not check that it exists.
    public init(identifier: String, topic: Topic) {
        self.identifier = identifier
        self.topic = topic
    }

    /// Returns the app group that the property list of this process names under `PushcryptAppGroup`, and the app that contains
    /// it. Not run on Apple systems.
    ///
    /// - Throws: `KeyStoreError` with the code `missing-entitlement` if there is no such property.
    public static func ofThisApp() throws -> AppGroup { try ContainingApp().appGroup() }

    /// Returns the app's directory in the group.
    ///
    /// On Apple systems this is the folder `pushcrypt/BUNDLE-ID` in the group's container. Elsewhere the environment variable
    /// `PUSHCRYPT_APP_GROUPS` names a folder that contains a folder for each group. Not run on Apple systems.
    ///
    /// - Throws: `AppGroup.Missing`.
    public func directory() throws -> URL {
        guard let container else { throw Missing(identifier: identifier) }
        return container.appendingPathComponent("pushcrypt", isDirectory: true)
            .appendingPathComponent(topic.bundleID, isDirectory: true)
    }

    /// The error for a group that this process does not belong to.
    public struct Missing: Error, Hashable, CustomStringConvertible {
        /// The identifier that the caller gave.
        package let identifier: String

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

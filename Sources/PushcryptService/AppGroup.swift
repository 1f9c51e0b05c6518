public import Foundation

/// A directory that an app shares with its extensions.
public struct AppGroup: Hashable, Sendable {
    /// As the entitlement names it, for example `group.com.example`.
    public let identifier: String

    /// Names a group.
    public init(identifier: String) { self.identifier = identifier }

    /// The group's directory for what this package keeps; throws `AppGroup.Missing`.
    ///
    /// On Apple systems the folder `pushcrypt` in the group's container. Elsewhere the environment variable
    /// `PUSHCRYPT_APP_GROUPS` names a folder that holds a folder for each group. Not run on Apple systems.
    public func directory() throws -> URL {
        guard let container else { throw Missing(identifier: identifier) }
        return container.appendingPathComponent("pushcrypt", isDirectory: true)
    }

    /// A group that this process is not a member of.
    public struct Missing: Error, Hashable, CustomStringConvertible {
        /// As the caller named it.
        public let identifier: String

        /// What to do.
        public var description: String {
            "there is no app group \(identifier): add it to the App Groups capability of both targets, the app and the extension"
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

internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore

/// The app that a bundle belongs to, as property lists describe it: for an extension, the app that contains it.
///
/// Where there are no property lists, the environment variable `PUSHCRYPT_BUNDLE_ID` names the app, and its group is called
/// `group.` and that. Not run on Apple systems.
struct ContainingApp: Sendable {
    /// The property list key of the app group.
    static let appGroupKey = "PushcryptAppGroup"

    private let bundle: Bundle

    init(of bundle: Bundle = .main) { self.bundle = bundle }

    /// Returns the bundle id of the app, not of the extension.
    func topic() throws -> Topic {
        #if os(Linux)
            if let id = try standInID() { return try Topic(id) }
        #endif
        return try Topic(Bundle(url: folder)?.bundleIdentifier ?? "")
    }

    /// Returns the app's directory in the app group that the bundle's property list names.
    func appGroup() throws -> AppGroup { AppGroup(identifier: try appGroupIdentifier(), topic: try topic()) }

    func appGroupIdentifier() throws -> String {
        #if os(Linux)
            if let id = try standInID() { return "group.\(id)" }
        #endif
        return try SharedKeyStore.group(bundle.object(forInfoDictionaryKey: Self.appGroupKey), key: Self.appGroupKey)
    }

    /// The app's folder: an extension is in the folder PlugIns there, which on a Mac is in Contents.
    private var folder: URL {
        guard bundle.bundleURL.pathExtension == "appex" else { return bundle.bundleURL }
        let above = bundle.bundleURL.deletingLastPathComponent().deletingLastPathComponent()
        return above.lastPathComponent == "Contents" ? above.deletingLastPathComponent() : above
    }

    #if os(Linux)
        /// The bundle id of the process, which has no bundle here; nil for a bundle of a test.
        private func standInID() throws -> String? {
            guard bundle == .main else { return nil }
            guard let id = ProcessInfo.processInfo.environment["PUSHCRYPT_BUNDLE_ID"], !id.isEmpty else {
                throw KeyStoreError(
                    .missingEntitlement,
                    "the environment variable PUSHCRYPT_BUNDLE_ID does not name the app, which has no property list here"
                )
            }
            return id
        }
    #endif
}

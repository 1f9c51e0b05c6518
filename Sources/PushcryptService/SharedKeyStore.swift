public import Foundation
public import Pushcrypt
public import PushcryptKeyStore

/// The store that an app and its extensions share.
///
/// On Apple systems it is the Keychain, in the access group that each target's property list names under
/// `PushcryptKeychainGroup`, as `$(AppIdentifierPrefix)com.example.app.pushcrypt`: only Xcode knows the team's prefix,
/// and the Keychain needs it at run time. Several apps may share the group: each has its own item, by its bundle id.
/// Elsewhere, for tests, it is an `SQLiteKeyStore` in a folder of the bundle id in the folder that the environment variable
/// `PUSHCRYPT_KEYCHAIN` names, created if it does not exist. Not run on Apple systems.
public enum SharedKeyStore {
    /// The property list key of the access group.
    public static let propertyListKey = "PushcryptKeychainGroup"

    /// Opens the store. An app and its extensions each call it in their own process, with their own bundle.
    ///
    /// - Parameters:
    ///   - topic: The bundle id of the app.
    ///   - bundle: The bundle whose property list names the access group.
    /// - Throws: `missingEntitlement` if neither a property list nor the environment names the store.
    public static func open(for topic: Topic, bundle: Bundle = .main) throws(KeyStoreError) -> any DeviceStore {
        #if os(Linux)
            guard let folder = ProcessInfo.processInfo.environment["PUSHCRYPT_KEYCHAIN"], !folder.isEmpty else {
                throw KeyStoreError(
                    .missingEntitlement,
                    "the environment variable PUSHCRYPT_KEYCHAIN does not name a folder, which holds the keys where there is no Keychain"
                )
            }
            return try store(at: "\(folder)/\(topic.bundleID)")
        #else
            let group = try group(bundle.object(forInfoDictionaryKey: propertyListKey), key: propertyListKey)
            return KeychainDeviceStore(accessGroup: group, topic: topic)
        #endif
    }

    /// Returns the group in a property list's value.
    static func group(_ value: Any?, key: String) throws(KeyStoreError) -> String {
        guard let group = value as? String, !group.isEmpty else {
            throw KeyStoreError(
                .missingEntitlement,
                "the property list of this target has no \(key): add it, with the group of its entitlements")
        }
        guard !group.contains("$(") else {
            throw KeyStoreError(
                .missingEntitlement,
                "\(key) still contains a variable: set the file as the target's INFOPLIST_FILE, so that Xcode replaces it"
            )
        }
        return group
    }

    #if os(Linux)
        private static func store(at folder: String) throws(KeyStoreError) -> SQLiteKeyStore {
            do throws(KeyStoreError) {
                return try SQLiteKeyStore.open(in: folder)
            } catch {
                guard error.code == .storeMissing else { throw error }
            }
            do throws(KeyStoreError) {
                return try SQLiteKeyStore.create(in: folder)
            } catch {
                // Another process or thread created it first.
                guard error.code == .storeExists else { throw error }
                return try SQLiteKeyStore.open(in: folder)
            }
        }
    #endif
}

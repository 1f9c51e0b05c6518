package import Pushcrypt

/// The dictionary of a call to the Keychain (`SecItem`), as values.
package typealias KeychainQuery = [KeychainAttribute: KeychainValue]

/// The keys of a query, each with its constant in the Security framework.
package enum KeychainAttribute: Hashable, Sendable, CaseIterable {
    /// `kSecClass`
    case itemClass
    /// `kSecAttrService`
    case service
    /// `kSecAttrAccount`
    case account
    /// `kSecAttrAccessGroup`
    case accessGroup
    /// `kSecAttrAccessible`
    case accessible
    /// `kSecAttrSynchronizable`
    case isSynchronizable
    /// `kSecUseDataProtectionKeychain`: on a Mac, the keychain with access groups; the only one on iOS.
    case usesDataProtection
    /// `kSecAttrGeneric`: here, the revision of the item's data.
    case generic
    /// `kSecValueData`
    case data
    /// `kSecReturnData`
    case returnsData
    /// `kSecMatchLimit`
    case matchLimit
}

/// The values of a query.
package enum KeychainValue: Sendable {
    /// `kSecClassGenericPassword`
    case genericPassword
    /// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`
    case afterFirstUnlockThisDeviceOnly
    /// `kSecMatchLimitOne`
    case one
    case flag(Bool)
    case text(String)
    case bytes(ContiguousArray<UInt8>)
    case secret(KeychainSecret)
}

/// The data of a Keychain item, in guarded memory; wiped with the last reference, never printed.
package final class KeychainSecret: Sendable {
    private let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    /// Calls `body` with the data; its result must not hold a copy of a secret.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try bytes.withSpan(body)
    }
}

extension KeychainSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "KeychainSecret" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The four functions of the Keychain: a dictionary in, a status out. Everything above them is tested without a
/// Keychain.
package protocol SecItems: Sendable {
    /// `SecItemAdd`
    func add(_ attributes: KeychainQuery) -> Int32
    /// `SecItemCopyMatching`; returns the data of the one matching item.
    func copyMatching(_ query: KeychainQuery) -> (status: Int32, data: KeychainSecret?)
    /// `SecItemUpdate`
    func update(_ query: KeychainQuery, _ attributes: KeychainQuery) -> Int32
    /// `SecItemDelete`
    func delete(_ query: KeychainQuery) -> Int32
}

/// The statuses that are handled specially (`SecBase.h`).
package enum KeychainStatus {
    package static let success: Int32 = 0
    /// `errSecDuplicateItem`
    package static let duplicate: Int32 = -25299
    /// `errSecItemNotFound`
    package static let notFound: Int32 = -25300
    /// `errSecInteractionNotAllowed`
    package static let locked: Int32 = -25308
    /// `errSecMissingEntitlement`
    package static let missingEntitlement: Int32 = -34018
}

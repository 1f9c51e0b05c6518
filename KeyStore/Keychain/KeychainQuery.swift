package import Pushcrypt

/// What a call to the Keychain says: the dictionary of `SecItem`, as values of our own.
package typealias KeychainQuery = [KeychainAttribute: KeychainValue]

/// The keys of a query, each with the constant of the Security framework that it stands for.
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
    /// `kSecUseDataProtectionKeychain`: on a Mac the keychain that has access groups; iOS has no other.
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

    /// Reads the data; nothing that `body` returns may hold a copy of a secret in it.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try bytes.withSpan(body)
    }
}

extension KeychainSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "KeychainSecret" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The four functions of the Keychain: a dictionary in, a status out. Everything above them is tested without a Keychain.
package protocol SecItems: Sendable {
    /// `SecItemAdd`
    func add(_ attributes: KeychainQuery) -> Int32
    /// `SecItemCopyMatching`; the data of the one item that matches.
    func copyMatching(_ query: KeychainQuery) -> (status: Int32, data: KeychainSecret?)
    /// `SecItemUpdate`
    func update(_ query: KeychainQuery, _ attributes: KeychainQuery) -> Int32
    /// `SecItemDelete`
    func delete(_ query: KeychainQuery) -> Int32
}

/// The statuses that mean something of their own here (`SecBase.h`).
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

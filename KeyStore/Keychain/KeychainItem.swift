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

/// What one Keychain item holds, as bytes. Equal contents have equal bytes apart from the revision.
protocol KeychainItemContents {
    /// Distinguishes the items of a store.
    static var account: String { get }

    /// The contents of a missing item.
    init()
    /// Parses the data of an item, completely or not at all.
    static func parse(_ data: Span<UInt8>) throws(KeyStoreError) -> (contents: Self, revision: Bytes)
    func data(revision: Bytes) -> KeychainSecret
}

/// The Keychain items of a store, and the meaning of each status.
///
/// The keys and pins of a device are one item, so that each change is one call, which happens or does not. An item has
/// a revision, and is replaced only if its revision is still the one that was read: two processes never undo each
/// other's changes.
struct KeychainItem: Sendable {
    static let revisionLength = 16

    let items: any SecItems
    let service: String
    let accessGroup: String

    /// Identifies exactly one item: without the access group, a query would match any group of the process.
    private func name<Contents: KeychainItemContents>(
        _: Contents.Type, _ more: KeychainQuery = [:]
    ) -> KeychainQuery {
        let name: KeychainQuery = [
            .itemClass: .genericPassword, .service: .text(service), .account: .text(Contents.account),
            .accessGroup: .text(accessGroup), .isSynchronizable: .flag(false), .usesDataProtection: .flag(true),
        ]
        return name.merging(more) { _, more in more }
    }

    /// Returns the contents of an item; nil if there is none.
    func read<Contents: KeychainItemContents>(
        _: Contents.Type
    ) throws(KeyStoreError) -> (contents: Contents, revision: Bytes)? {
        let query = name(Contents.self, [.returnsData: .flag(true), .matchLimit: .one])
        let (status, data) = items.copyMatching(query)
        guard status != KeychainStatus.notFound else { return nil }
        guard status == KeychainStatus.success else { throw failure(status, "read") }
        guard let data else { throw KeychainContents.damaged }
        return try data.withSpan { (data) throws(KeyStoreError) in try Contents.parse(data) }
    }

    /// Adds an item, or replaces the one that has the revision; returns false if another process was faster.
    func write<Contents: KeychainItemContents>(
        _ contents: Contents, replacing revision: Bytes?
    ) throws(KeyStoreError) -> Bool {
        let new = Sodium.randomBytes(Self.revisionLength)
        let values: KeychainQuery = [.generic: .bytes(new), .data: .secret(contents.data(revision: new))]
        guard let revision else {
            let status = items.add(
                name(Contents.self, values.merging([.accessible: .afterFirstUnlockThisDeviceOnly]) { $1 }))
            guard status != KeychainStatus.duplicate else { return false }
            guard status == KeychainStatus.success else { throw failure(status, "write") }
            return true
        }
        let status = items.update(name(Contents.self, [.generic: .bytes(revision)]), values)
        guard status != KeychainStatus.notFound else { return false }
        guard status == KeychainStatus.success else { throw failure(status, "write") }
        return true
    }

    func delete<Contents: KeychainItemContents>(_: Contents.Type) throws(KeyStoreError) {
        let status = items.delete(name(Contents.self))
        guard status == KeychainStatus.success || status == KeychainStatus.notFound else {
            throw failure(status, "delete")
        }
    }

    private func failure(_ status: Int32, _ verb: StaticString) -> KeyStoreError {
        switch status {
        case KeychainStatus.locked:
            KeyStoreError(
                .storeLocked,
                "the device has not been unlocked since it started: its keys are available after the first unlock")
        case KeychainStatus.missingEntitlement:
            KeyStoreError(
                .missingEntitlement,
                "this process may not use the Keychain access group \(accessGroup): add it to the Keychain Sharing capability of both targets, the app and the extension"
            )
        default:
            KeyStoreError(.inputOutput, "cannot \(verb) the device's keys: the Keychain returned status \(status)")
        }
    }

    var missing: KeyStoreError {
        KeyStoreError(
            .storeMissing,
            "the Keychain access group \(accessGroup) has no keys: the app generates and registers one, also after a restore to another device, which does not include the old ones"
        )
    }
}

#if canImport(Security)
    internal import CoreFoundation
    public import Pushcrypt
    internal import Security
#else
    package import Pushcrypt
#endif

/// A device's state in the Keychain of an Apple system, for an app and its extensions.
///
/// It is one item: accessible after the first unlock, on this device only, in an access group that the app and its
/// extensions share; not synchronised. Its name is the app's bundle id, so that no other app of the group reaches it. A
/// change is one call to the Keychain: it happens or it does not. Secrets are copied into guarded memory at once; the
/// copies made by the system are out of reach.
///
/// The item outlives the app's removal; `PushAccounts` finds out. A backup does not move it to another device.
public final class KeychainDeviceStore: DeviceStore {
    private static let service = "pushcrypt"

    private let items: any SecItems
    private let accessGroup: String
    private let topic: Topic

    package init(items: any SecItems, accessGroup: String, topic: Topic) {
        self.items = items
        self.accessGroup = accessGroup
        self.topic = topic
    }

    /// Identifies exactly one item: without the access group, a query would match any group of the process.
    private func query(_ more: KeychainQuery = [:]) -> KeychainQuery {
        let name: KeychainQuery = [
            .itemClass: .genericPassword, .service: .text(Self.service), .account: .text(topic.bundleID),
            .accessGroup: .text(accessGroup), .isSynchronizable: .flag(false), .usesDataProtection: .flag(true),
        ]
        return name.merging(more) { _, more in more }
    }

    /// Returns the state and its revision.
    public func load() throws(KeyStoreError) -> (state: DeviceState, revision: ContiguousArray<UInt8>)? {
        let (status, data) = items.copyMatching(query([.returnsData: .flag(true), .matchLimit: .one]))
        guard status != KeychainStatus.notFound else { return nil }
        guard status == KeychainStatus.success else { throw failure(status, "read") }
        guard let data else { throw .damagedState }
        return try data.withSpan { (data) throws(KeyStoreError) in
            guard data.count >= revisionLength else { throw .damagedState }
            let state = try DeviceState(parsing: data.extracting(revisionLength..<data.count))
            return (state, Bytes(copying: data.extracting(0..<revisionLength)))
        }
    }

    /// Adds the item, or replaces the one that has this revision. The revision is also an attribute: a query cannot match data.
    public func compareAndSwap(
        _ state: DeviceState, replacing revision: ContiguousArray<UInt8>?
    ) throws(KeyStoreError) -> Bool {
        let new = Sodium.randomBytes(revisionLength)
        let values: KeychainQuery = [
            .generic: .bytes(new), .data: .secret(KeychainSecret(state.form.bytes(after: new))),
        ]
        let (status, refusal) =
            if let revision {
                (items.update(query([.generic: .bytes(revision)]), values), KeychainStatus.notFound)
            } else {
                (
                    items.add(query(values.merging([.accessible: .afterFirstUnlockThisDeviceOnly]) { $1 })),
                    KeychainStatus.duplicate
                )
            }
        guard status != refusal else { return false }
        guard status == KeychainStatus.success else { throw failure(status, "write") }
        return true
    }

    /// Deletes the item.
    public func discard() throws(KeyStoreError) {
        let status = items.delete(query())
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
}

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

// Neither compiled nor run on Linux, where the project is tested; everything above it is. It makes no decisions.
#if canImport(Security)
    extension KeychainDeviceStore {
        /// Creates a store in the system's Keychain.
        ///
        /// - Parameters:
        ///   - accessGroup: The Keychain Sharing group of the app and its extensions, with the team's prefix, as in
        ///     `AB12CD34EF.com.example.app.keys`.
        ///   - topic: The app.
        public convenience init(accessGroup: String, topic: Topic) {
            self.init(items: SecItemKeychain(), accessGroup: accessGroup, topic: topic)
        }
    }

    /// Passes each query to `SecItem`, and copies the data of an item into guarded memory.
    private struct SecItemKeychain: SecItems {
        func add(_ attributes: KeychainQuery) -> Int32 { SecItemAdd(dictionary(attributes), nil) }

        func copyMatching(_ query: KeychainQuery) -> (status: Int32, data: KeychainSecret?) {
            var result: CFTypeRef?
            let status = unsafe SecItemCopyMatching(dictionary(query), &result)
            guard status == errSecSuccess, let result, CFGetTypeID(result) == CFDataGetTypeID() else {
                return (status, nil)
            }
            let data = unsafe unsafeDowncast(result, to: CFData.self)
            let count = CFDataGetLength(data)
            return (
                status,
                KeychainSecret(
                    SecretBytes(count: count) { output in
                        unsafe output.withMutableBase { base, _ in
                            unsafe CFDataGetBytes(data, CFRange(location: 0, length: count), base)
                        }
                    })
            )
        }

        func update(_ query: KeychainQuery, _ attributes: KeychainQuery) -> Int32 {
            SecItemUpdate(dictionary(query), dictionary(attributes))
        }

        func delete(_ query: KeychainQuery) -> Int32 { SecItemDelete(dictionary(query)) }

        /// Without Foundation, Swift dictionaries are not bridged.
        private func dictionary(_ query: KeychainQuery) -> CFDictionary {
            var keys = kCFTypeDictionaryKeyCallBacks
            var values = kCFTypeDictionaryValueCallBacks
            let dictionary: CFMutableDictionary = unsafe CFDictionaryCreateMutable(nil, query.count, &keys, &values)
            for (attribute, value) in query {
                let (key, object) = (attribute.constant, value.object)
                // The dictionary retains both.
                withExtendedLifetime((key, object)) {
                    unsafe CFDictionarySetValue(
                        dictionary, Unmanaged.passUnretained(key).toOpaque(),
                        Unmanaged.passUnretained(object).toOpaque())
                }
            }
            return dictionary
        }
    }

    extension KeychainAttribute {
        fileprivate var constant: CFString {
            switch self {
            case .itemClass: kSecClass
            case .service: kSecAttrService
            case .account: kSecAttrAccount
            case .accessGroup: kSecAttrAccessGroup
            case .accessible: kSecAttrAccessible
            case .isSynchronizable: kSecAttrSynchronizable
            case .usesDataProtection: kSecUseDataProtectionKeychain
            case .generic: kSecAttrGeneric
            case .data: kSecValueData
            case .returnsData: kSecReturnData
            case .matchLimit: kSecMatchLimit
            }
        }
    }

    extension KeychainValue {
        fileprivate var object: CFTypeRef {
            switch self {
            case .genericPassword: kSecClassGenericPassword
            case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .one: kSecMatchLimitOne
            case .flag(let flag): flag ? kCFBooleanTrue : kCFBooleanFalse
            case .text(let text): Self.string(Bytes(text.utf8).span)
            case .bytes(let bytes): Self.data(bytes.span)
            case .secret(let secret): secret.withSpan(Self.data)
            }
        }

        private static func string(_ text: Span<UInt8>) -> CFString {
            unsafe text.withUnsafeBufferPointer { text in
                unsafe CFStringCreateWithBytes(
                    nil, text.baseAddress, text.count, CFStringBuiltInEncodings.UTF8.rawValue, false)
            }
        }

        private static func data(_ bytes: Span<UInt8>) -> CFData {
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe CFDataCreate(nil, bytes.baseAddress, bytes.count)
            }
        }
    }
#endif

internal import Pushcrypt
internal import PushcryptKeyStore

/// The four functions for one process. A query that is incomplete, or says what its function does not take, is refused as
/// `errSecParam`: what `SecItem` would rather ignore is a mistake too.
struct ModelProcess: SecItems {
    let keychain: ModelKeychain
    let accessGroups: Set<String>

    /// `errSecParam`
    private static let invalidQuery: Int32 = -50

    private static let naming: Set<KeychainAttribute> = [
        .itemClass, .service, .account, .accessGroup, .isSynchronizable, .usesDataProtection,
    ]

    func add(_ attributes: KeychainQuery) -> Int32 {
        let values: Set<KeychainAttribute> = [.accessible, .generic, .data]
        guard Set(attributes.keys) == Self.naming.union(values), let name = Self.name(attributes),
            case .afterFirstUnlockThisDeviceOnly? = attributes[.accessible],
            case .bytes(let generic)? = attributes[.generic], case .secret(let data)? = attributes[.data]
        else { return Self.invalidQuery }
        guard accessGroups.contains(name.accessGroup) else { return KeychainStatus.missingEntitlement }
        return keychain.add(name, ModelItem(generic: generic, data: data.copy, isThisDeviceOnly: true))
    }

    func copyMatching(_ query: KeychainQuery) -> (status: Int32, data: KeychainSecret?) {
        guard let (name, generic) = Self.match(query, alsoAllowing: [.returnsData, .matchLimit]),
            case .one? = query[.matchLimit]
        else { return (Self.invalidQuery, nil) }
        guard accessGroups.contains(name.accessGroup) else { return (KeychainStatus.missingEntitlement, nil) }
        let (status, item) = keychain.copy(name, generic: generic)
        // Nobody gets data who does not ask for it.
        guard let item, case .flag(true)? = query[.returnsData] else { return (status, nil) }
        return (status, KeychainSecret(SecretBytes(copying: item.data.span)))
    }

    func update(_ query: KeychainQuery, _ attributes: KeychainQuery) -> Int32 {
        guard let (name, generic) = Self.match(query), Set(attributes.keys) == [.generic, .data],
            case .bytes(let revision)? = attributes[.generic], case .secret(let data)? = attributes[.data]
        else { return Self.invalidQuery }
        guard accessGroups.contains(name.accessGroup) else { return KeychainStatus.missingEntitlement }
        return keychain.update(name, generic: generic) { item in
            item.generic = revision
            item.data = data.copy
        }
    }

    func delete(_ query: KeychainQuery) -> Int32 {
        guard let (name, generic) = Self.match(query) else { return Self.invalidQuery }
        guard accessGroups.contains(name.accessGroup) else { return KeychainStatus.missingEntitlement }
        return keychain.delete(name, generic: generic)
    }

    /// The item that a query names, by its primary key and perhaps `kSecAttrGeneric`.
    private static func match(
        _ query: KeychainQuery, alsoAllowing more: Set<KeychainAttribute> = []
    ) -> (ModelItem.Name, ContiguousArray<UInt8>?)? {
        guard Set(query.keys).subtracting(more).subtracting([.generic]) == naming, let name = name(query) else {
            return nil
        }
        switch query[.generic] {
        case nil: return (name, nil)
        case .bytes(let generic)?: return (name, generic)
        default: return nil
        }
    }

    private static func name(_ query: KeychainQuery) -> ModelItem.Name? {
        guard case .genericPassword? = query[.itemClass], case .flag(false)? = query[.isSynchronizable],
            case .flag(true)? = query[.usesDataProtection], case .text(let service)? = query[.service],
            case .text(let account)? = query[.account], case .text(let accessGroup)? = query[.accessGroup],
            !service.isEmpty, !account.isEmpty, !accessGroup.isEmpty
        else { return nil }
        return ModelItem.Name(accessGroup: accessGroup, service: service, account: account)
    }
}

extension KeychainSecret {
    /// A model keeps what a Keychain would encrypt.
    fileprivate var copy: ContiguousArray<UInt8> { withSpan { ContiguousArray(copying: $0) } }
}

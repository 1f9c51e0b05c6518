import ModelKeychain
import Pushcrypt

@testable import PushcryptKeyStore

/// The places of a device's state; what they promise is checked on each.
enum DeviceStoreKind: CaseIterable, Sendable {
    case disk
    case memory
    case keychain

    func store() throws -> any DeviceStore {
        switch self {
        case .disk: try Home(.disk).store
        case .memory: MemoryDeviceStore()
        case .keychain: KeychainDeviceStore(items: ModelKeychain().process("group"), topic: try .app)
        }
    }

    /// Two views of one place, as two processes have them.
    func views() throws -> (any DeviceStore, any DeviceStore) {
        switch self {
        case .disk:
            let home = try Home()
            return (home.store, try home.reopened())
        case .memory:
            let store = MemoryDeviceStore()
            return (store, store)
        case .keychain:
            let keychain = ModelKeychain()
            return (
                KeychainDeviceStore(items: keychain.process("group"), topic: try .app),
                KeychainDeviceStore(items: keychain.process("group"), topic: try .app)
            )
        }
    }
}

extension KeychainDeviceStore {
    convenience init(items: any SecItems, topic: Topic) {
        self.init(items: items, accessGroup: "group", topic: topic)
    }
}

extension DeviceStore {
    /// Adds a key for an account.
    @discardableResult
    func add(_ key: DeviceKey = DeviceKey(), to name: String = "default", topic: Topic? = nil) throws(KeyStoreError)
        -> DeviceState.Key
    {
        try change { (state) throws(KeyStoreError) in try state.add(key, to: name, topic: topic, at: start) }
    }

    /// Makes the pending key of an account.
    @discardableResult
    func rotate(_ name: String? = nil) throws(KeyStoreError) -> DeviceState.Key {
        try change { (state) throws(KeyStoreError) in try state.rotate(name, at: start) }
    }

    /// Confirms the pending key of an account; the former one ends at once.
    @discardableResult
    func confirm(_ name: String? = nil) throws(KeyStoreError) -> DeviceState.Key? {
        try change { (state) throws(KeyStoreError) in try state.confirm(name, grace: .seconds(0), at: start) }
    }

    func keys() throws(KeyStoreError) -> [DeviceState.Key] { try state().keys }
}

extension DeviceState {
    /// The keys of all accounts.
    var keys: [Key] { accounts.flatMap(\.keys) }

    /// The state that is read from the bytes of this one.
    func readBack() throws -> DeviceState {
        try form.bytes().withSpan { (form) throws(KeyStoreError) in try DeviceState(parsing: form) }
    }
}

extension DeviceState.Key {
    var scalar: Bytes { secret.withSpan { Bytes(copying: $0) } }
}

/// Repeats a change for as long as others are always faster.
@discardableResult
func patiently<R>(_ body: () throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
    while true {
        do throws(KeyStoreError) {
            return try body()
        } catch {
            guard error.code == .storeBusy else { throw error }
        }
    }
}

import ModelKeychain
import Pushcrypt
import PushcryptKeyStore
import Testing

/// The places where a device's state can be.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, keychain

    var testDescription: String { rawValue }

    func make() throws -> any DeviceStore {
        switch self {
        case .sqlite: try SQLiteKeyStore.inMemory()
        case .keychain: ModelKeychain().store
        }
    }
}

extension ModelKeychain {
    /// The device's state in it.
    var store: any DeviceStore { KeychainDeviceStore(items: process("keys"), accessGroup: "keys", topic: .app) }
}

/// A device's store that fails when a test says so.
final class FailingStore: DeviceStore {
    private let store: any DeviceStore
    private let content = Locked(Content())

    private final class Content {
        var failure: KeyStoreError?
        var writesOnly = false
        var writes = 0
        /// How many calls end before the process is killed.
        var life: Int?
        var completesLast = false
    }

    init(_ store: any DeviceStore = MemoryDeviceStore()) { self.store = store }

    /// The error of every later call, or of every later write; nil for none.
    func fail(with error: KeyStoreError?, writesOnly: Bool = false) {
        content.withLock { ($0.failure, $0.writesOnly) = (error, writesOnly) }
    }

    /// Kills the process at a call, from 0, before the call has done anything or when it has done all; nil: not at all.
    func kill(at call: Int?, isDone: Bool = false) { content.withLock { ($0.life, $0.completesLast) = (call, isDone) } }

    /// How often something was to be stored.
    var writes: Int { content.withLock { $0.writes } }

    private func call<R>(isWrite: Bool, _ body: () throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        let (failure, completes) = content.withLock { content -> (KeyStoreError?, Bool) in
            if isWrite { content.writes += 1 }
            if let failure = content.failure, isWrite || !content.writesOnly { return (failure, false) }
            guard let life = content.life else { return (nil, false) }
            content.life = max(0, life - 1)
            guard life == 0 else { return (nil, false) }
            defer { content.completesLast = false }
            return (KeyStoreError(.inputOutput, "killed"), content.completesLast)
        }
        guard let failure else { return try body() }
        if completes { _ = try body() }
        throw failure
    }

    func load() throws(KeyStoreError) -> (state: DeviceState, revision: Bytes)? {
        try call(isWrite: false) { () throws(KeyStoreError) in try store.load() }
    }

    func compareAndSwap(_ state: DeviceState, replacing revision: Bytes?) throws(KeyStoreError) -> Bool {
        try call(isWrite: true) { () throws(KeyStoreError) in try store.compareAndSwap(state, replacing: revision) }
    }

    func discard() throws(KeyStoreError) {
        try call(isWrite: true) { () throws(KeyStoreError) in try store.discard() }
    }
}

package import PushcryptKeyStore

/// A model of one device's Keychain, as Apple documents it; where that leaves room, the stricter of two ways.
///
/// It belongs to the device and not to an app: removing an app leaves its items. A process reaches it through `process`,
/// which knows what the process is entitled to.
package final class ModelKeychain: Sendable {
    /// The four functions.
    package enum Call: Hashable, Sendable {
        case add, copyMatching, update, delete
    }

    private let state = Locked(State())

    fileprivate final class State {
        var items: [ModelItem.Name: ModelItem] = [:]
        var isUnlocked = true
        var calls: [Call] = []
        var failures: [Call: Int32] = [:]
        var interruptions: [(call: Call, body: @Sendable () -> Void)] = []
    }

    package init() {}

    /// The Keychain as a process sees it whose entitlements name these access groups.
    package func process(_ accessGroups: String...) -> any SecItems {
        ModelProcess(keychain: self, accessGroups: Set(accessGroups))
    }

    // MARK: Events of a device

    /// Starts the device again: until it is unlocked, items that need that cannot be used.
    package func restart() { state.withLock { $0.isUnlocked = false } }

    package func unlock() { state.withLock { $0.isUnlocked = true } }

    /// The Keychain of another device to which a backup of this one was restored.
    package func restored() -> ModelKeychain {
        let moving = state.withLock { state in state.items.filter { !$0.value.isThisDeviceOnly } }
        let other = ModelKeychain()
        other.state.withLock { $0.items = moving }
        return other
    }

    // MARK: Changes by a test

    /// Makes every call of this kind return a status and do nothing; nil ends that.
    package func fail(_ call: Call, with status: Int32?) { state.withLock { $0.failures[call] = status } }

    /// Runs `body` once, before the next call of this kind: what another process does in between.
    package func before(_ call: Call, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.interruptions.append((call, body)) }
    }

    /// The calls so far that were allowed to write.
    package var writes: [Call] { state.withLock { $0.calls.filter { $0 != .copyMatching } } }

    /// The data of every item.
    package var data: [ContiguousArray<UInt8>] { state.withLock { $0.items.values.map(\.data) } }

    /// The revision and the data of an account's item.
    package func item(_ account: String) -> Item? {
        state.withLock { state in
            state.items.first { $0.key.account == account }.map {
                Item(revision: $0.value.generic, data: $0.value.data)
            }
        }
    }

    package struct Item: Equatable, Sendable {
        package let revision: ContiguousArray<UInt8>
        package let data: ContiguousArray<UInt8>
    }

    /// Puts other data into the items of an account, by default into every item, as damage or another version would.
    package func replaceData(
        _ account: String? = nil, _ body: (ContiguousArray<UInt8>) -> ContiguousArray<UInt8>
    ) {
        state.withLock { state in
            for name in state.items.keys where account == nil || name.account == account {
                state.items[name].map { item in
                    var item = item
                    item.data = body(item.data)
                    state.items[name] = item
                }
            }
        }
    }

    // MARK: Calls

    func add(_ name: ModelItem.Name, _ item: ModelItem) -> Int32 {
        call(.add) { state in
            guard state.isUnlocked else { return KeychainStatus.locked }
            guard state.items[name] == nil else { return KeychainStatus.duplicate }
            state.items[name] = item
            return KeychainStatus.success
        }
    }

    func copy(_ name: ModelItem.Name, generic: ContiguousArray<UInt8>?) -> (Int32, ModelItem?) {
        var found: ModelItem?
        let status = call(.copyMatching) { state in
            let status = state.status(of: name, generic)
            if status == KeychainStatus.success { found = state.items[name] }
            return status
        }
        return (status, found)
    }

    func update(
        _ name: ModelItem.Name, generic: ContiguousArray<UInt8>?, _ change: (inout ModelItem) -> Void
    ) -> Int32 {
        call(.update) { state in
            let status = state.status(of: name, generic)
            if status == KeychainStatus.success, var item = state.items[name] {
                change(&item)
                state.items[name] = item
            }
            return status
        }
    }

    func delete(_ name: ModelItem.Name, generic: ContiguousArray<UInt8>?) -> Int32 {
        call(.delete) { state in
            let status = state.status(of: name, generic)
            if status == KeychainStatus.success { state.items[name] = nil }
            return status
        }
    }

    private func call(_ call: Call, _ body: (State) -> Int32) -> Int32 {
        let interruption = state.withLock { state in
            state.interruptions.firstIndex { $0.call == call }.map { state.interruptions.remove(at: $0).body }
        }
        interruption?()
        return state.withLock { state in
            state.calls.append(call)
            return state.failures[call] ?? body(state)
        }
    }
}

extension ModelKeychain.State {
    /// Whether an item can be used; that it is there is known before the device is unlocked, what it holds is not.
    func status(of name: ModelItem.Name, _ generic: ContiguousArray<UInt8>?) -> Int32 {
        guard let item = items[name] else { return KeychainStatus.notFound }
        guard isUnlocked else { return KeychainStatus.locked }
        guard generic == nil || generic == item.generic else { return KeychainStatus.notFound }
        return KeychainStatus.success
    }
}

/// A generic password.
struct ModelItem: Sendable {
    /// The primary key.
    struct Name: Hashable {
        let accessGroup: String
        let service: String
        let account: String
    }

    var generic: ContiguousArray<UInt8>
    var data: ContiguousArray<UInt8>
    let isThisDeviceOnly: Bool
}

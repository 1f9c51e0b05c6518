internal import Pushcrypt

/// The two kinds of secret keys that have names, one of each kind the default.
enum NamedKeys: String {
    case device
    case sender

    private var table: StaticString {
        switch self {
        case .device: DeviceKeyRow.table.name
        case .sender: SenderKeyRow.table.name
        }
    }

    private var setting: String { "default.\(rawValue)" }

    func exists(_ name: String, in store: StoreTransaction) throws(KeyStoreError) -> Bool {
        let count = try store.connection.integer("SELECT count(*) FROM \(table) WHERE name = ?", [.text(name)])
        return count > 0
    }

    func hasKeyID(_ id: KeyID, in store: StoreTransaction) throws(KeyStoreError) -> Bool {
        let values: [SQLiteValue] = [.integer(Int64(id.value))]
        return try store.connection.integer("SELECT count(*) FROM \(table) WHERE key_id = ?", values) > 0
    }

    func defaultName(in store: StoreTransaction) throws(KeyStoreError) -> String? { try store.setting(setting) }

    /// The name that a caller means: the one it gives, or the default.
    func resolve(_ name: String?, in store: StoreTransaction) throws(KeyStoreError) -> String {
        if let name {
            guard try exists(name, in: store) else {
                throw KeyStoreError(
                    .unknownName, "no \(rawValue) key is called '\(name)' here: make it with 'keygen \(rawValue)'")
            }
            return name
        }
        if let name = try defaultName(in: store) { return name }
        let names = try names(in: store)
        guard !names.isEmpty else {
            throw KeyStoreError(.unknownName, "no \(rawValue) key is here: make one with 'keygen \(rawValue)'")
        }
        throw KeyStoreError(
            .ambiguousName, "several \(rawValue) keys are here: name one of \(names.joined(separator: ", "))")
    }

    /// The name that a caller means, or nil when no key has it.
    func resolveIfPresent(_ name: String?, in store: StoreTransaction) throws(KeyStoreError) -> String? {
        do throws(KeyStoreError) {
            return try resolve(name, in: store)
        } catch {
            guard error.code == .unknownName else { throw error }
            return nil
        }
    }

    /// Checks the name and the id of a key before it is put in.
    func checkIsNew(name: String, id: KeyID, in store: StoreTransaction) throws(KeyStoreError) {
        guard try !exists(name, in: store) else { throw taken(name) }
        guard try !hasKeyID(id, in: store) else {
            throw KeyStoreError(.keyIDTaken, "this store holds key \(id) already, under this or another name")
        }
    }

    func taken(_ name: String) -> KeyStoreError {
        KeyStoreError(
            .nameTaken,
            "a \(rawValue) key is called '\(name)' already: 'rotate \(rawValue)' gives it a new key, --name another name"
        )
    }

    /// Makes the first name the default; the last one left is the default too.
    func keepDefault(in store: StoreTransaction) throws(KeyStoreError) {
        if let name = try defaultName(in: store), try exists(name, in: store) { return }
        let names = try names(in: store)
        try store.setSetting(setting, names.count == 1 ? names.first : nil)
    }

    func setDefault(_ name: String, in store: StoreTransaction) throws(KeyStoreError) {
        try store.setSetting(setting, try resolve(name, in: store))
    }

    private func names(in store: StoreTransaction) throws(KeyStoreError) -> [String] {
        var names: [String] = []
        for row in try store.connection.rows("SELECT DISTINCT name FROM \(table) ORDER BY name") {
            if case .text(let bytes)? = row.first { names.append(String(decoding: bytes, as: UTF8.self)) }
        }
        return names
    }
}

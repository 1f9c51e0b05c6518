internal import Pushcrypt

/// The names of one kind of secret keys in a store, one of them the default; inside one transaction.
protocol KeyNames {
    /// What messages call this kind: `device` or `sender`.
    var kind: KeyKind { get }

    func exists(_ name: String) throws(KeyStoreError) -> Bool
    func hasKeyID(_ id: KeyID) throws(KeyStoreError) -> Bool
    /// Every name once, in the order of its bytes.
    func all() throws(KeyStoreError) -> [String]
    func defaultName() throws(KeyStoreError) -> String?
    func setDefaultName(_ name: String?) throws(KeyStoreError)
}

/// The two kinds of secret keys that have names.
enum KeyKind: String {
    case device
    case sender
}

extension KeyNames {
    /// The name that a caller means: the one it gives, or the default.
    func resolve(_ name: String?) throws(KeyStoreError) -> String {
        if let name {
            guard try exists(name) else {
                throw KeyStoreError(
                    .unknownName,
                    "no \(kind.rawValue) key is called '\(name)' here: make it with 'keygen \(kind.rawValue)'")
            }
            return name
        }
        if let name = try defaultName() { return name }
        let names = try all()
        guard !names.isEmpty else {
            throw KeyStoreError(
                .unknownName, "no \(kind.rawValue) key is here: make one with 'keygen \(kind.rawValue)'")
        }
        throw KeyStoreError(
            .ambiguousName, "several \(kind.rawValue) keys are here: name one of \(names.joined(separator: ", "))")
    }

    /// The name that a caller means, or nil when no key has it.
    func resolveIfPresent(_ name: String?) throws(KeyStoreError) -> String? {
        do throws(KeyStoreError) {
            return try resolve(name)
        } catch {
            guard error.code == .unknownName else { throw error }
            return nil
        }
    }

    /// Checks the name and the id of a key before it is put in.
    func checkIsNew(_ name: String, id: KeyID) throws(KeyStoreError) {
        guard try !exists(name) else { throw taken(name) }
        guard try !hasKeyID(id) else {
            throw KeyStoreError(.keyIDTaken, "this store holds key \(id) already, under this or another name")
        }
    }

    func taken(_ name: String) -> KeyStoreError {
        KeyStoreError(
            .nameTaken,
            "a \(kind.rawValue) key is called '\(name)' already: 'rotate \(kind.rawValue)' gives it a new key, --name another name"
        )
    }

    /// Makes the first name the default; the last one left is the default too.
    func keepDefault() throws(KeyStoreError) {
        if let name = try defaultName(), try exists(name) { return }
        let names = try all()
        try setDefaultName(names.count == 1 ? names.first : nil)
    }

    func setDefault(_ name: String) throws(KeyStoreError) { try setDefaultName(try resolve(name)) }

    /// The generation of the key that comes after one of this name.
    func generation(after generation: UInt64) throws(KeyStoreError) -> UInt64 {
        let (next, overflow) = generation.addingReportingOverflow(1)
        guard !overflow else {
            throw KeyStoreError(
                .rotationRefused, "this key has the last generation there is: make one under a new name")
        }
        return next
    }
}

/// The names in a table of an SQLite store; the default one is a setting.
struct TableNames: KeyNames {
    let kind: KeyKind
    let store: StoreTransaction

    private var table: StaticString {
        switch kind {
        case .device: DeviceKeyRow.table.name
        case .sender: SenderKeyRow.table.name
        }
    }

    private var setting: String { "default.\(kind.rawValue)" }

    func exists(_ name: String) throws(KeyStoreError) -> Bool {
        try store.connection.integer("SELECT count(*) FROM \(table) WHERE name = ?", [.text(name)]) > 0
    }

    func hasKeyID(_ id: KeyID) throws(KeyStoreError) -> Bool {
        let values: [SQLiteValue] = [.integer(Int64(id.value))]
        return try store.connection.integer("SELECT count(*) FROM \(table) WHERE key_id = ?", values) > 0
    }

    func all() throws(KeyStoreError) -> [String] {
        var names: [String] = []
        for row in try store.connection.rows("SELECT DISTINCT name FROM \(table) ORDER BY name") {
            if case .text(let bytes)? = row.first { names.append(String(decoding: bytes, as: UTF8.self)) }
        }
        return names
    }

    func defaultName() throws(KeyStoreError) -> String? { try store.setting(named: setting) }

    func setDefaultName(_ name: String?) throws(KeyStoreError) { try store.setSetting(name, named: setting) }
}

extension StoreTransaction {
    var deviceNames: TableNames { TableNames(kind: .device, store: self) }
    var senderNames: TableNames { TableNames(kind: .sender, store: self) }
}

internal import Pushcrypt

/// The rules for names of keys, accounts, devices and users.
package enum StoreName {
    static let maximumLength = 255

    /// Throws `invalidName` for an invalid name; `what` names it in the error.
    package static func check(_ name: String, _ what: StaticString) throws(KeyStoreError) {
        guard isAllowed(name) else {
            throw KeyStoreError(
                .invalidName, "\(what) must have 1 to \(maximumLength) bytes, and no control or invisible characters")
        }
    }

    /// Throws `invalidName` for an invalid device id; also for one that looks like a key, or is blank.
    static func checkDeviceID(_ id: String) throws(KeyStoreError) {
        try check(id, "a device id")
        guard !DeviceID.isKeyLike(id) else {
            throw KeyStoreError(
                .invalidName,
                "a device id must not begin with \(DevicePublicKey.textPrefixes.joined(separator: " or ")), as public keys do: choose another id"
            )
        }
        guard !DeviceID.isBlank(id) else {
            throw KeyStoreError(.invalidName, "a device id must not consist of spaces only: choose another id")
        }
    }

    static func isAllowed(_ name: String) -> Bool {
        (1...maximumLength).contains(name.utf8.count)
            && !name.unicodeScalars.contains(where: \.isInvisible)
    }

    /// Compares bytes, as the database does: to Swift, two spellings of an accented letter are equal.
    static func areEqual(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
}

extension String {
    /// Creates the text of these bytes; nil if they are not UTF-8, because a repaired text would stand for other bytes.
    init?(exactly bytes: Bytes) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}

/// The names of one kind of secret key in a store, one of them the default; inside one transaction.
protocol KeyNames {
    /// The kind as it appears in messages: `device` or `provider`.
    var kind: KeyKind { get }

    func exists(_ name: String) throws(KeyStoreError) -> Bool
    func hasKeyID(_ id: KeyID) throws(KeyStoreError) -> Bool
    /// Returns every name once, in the order of its bytes.
    func all() throws(KeyStoreError) -> [String]
    func defaultName() throws(KeyStoreError) -> String?
    func setDefaultName(_ name: String?) throws(KeyStoreError)
}

/// The kinds of secret key that have names.
enum KeyKind: String {
    case device
    case provider
}

extension KeyNames {
    /// Returns the name that a caller means: the given one, or the default.
    func resolve(_ name: String?) throws(KeyStoreError) -> String {
        if let name {
            guard try exists(name) else {
                throw KeyStoreError(
                    .unknownName,
                    "no \(kind.rawValue) key is named '\(name)'")
            }
            return name
        }
        if let name = try defaultName() { return name }
        let names = try all()
        guard !names.isEmpty else {
            throw KeyStoreError(
                .unknownName, "the store has no \(kind.rawValue) key")
        }
        throw KeyStoreError(
            .ambiguousName, "the store has several \(kind.rawValue) keys: name one of \(names.joined(separator: ", "))")
    }

    /// Returns the name that a caller means, or nil if no key has it.
    func resolveIfPresent(_ name: String?) throws(KeyStoreError) -> String? {
        do throws(KeyStoreError) {
            return try resolve(name)
        } catch {
            guard error.code == .unknownName else { throw error }
            return nil
        }
    }

    /// Checks that the name and the id of a new key are free.
    func checkIsNew(_ name: String, id: KeyID) throws(KeyStoreError) {
        guard try !exists(name) else { throw taken(name) }
        guard try !hasKeyID(id) else {
            throw KeyStoreError(.keyIDTaken, "the store already holds key \(id), under this or another name")
        }
    }

    func taken(_ name: String) -> KeyStoreError {
        KeyStoreError(
            .nameTaken,
            "a \(kind.rawValue) key is already named '\(name)'"
        )
    }

    /// Sets the first name as the default; the only one left is the default too.
    func keepDefault() throws(KeyStoreError) {
        if let name = try defaultName(), try exists(name) { return }
        let names = try all()
        try setDefaultName(names.count == 1 ? names.first : nil)
    }

    func setDefault(_ name: String) throws(KeyStoreError) { try setDefaultName(try resolve(name)) }

    func generation(after generation: UInt64) throws(KeyStoreError) -> UInt64 {
        let (next, overflow) = generation.addingReportingOverflow(1)
        guard !overflow else {
            throw KeyStoreError(
                .rotationRefused, "this key has the last possible generation: create one under a new name")
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
        case .provider: ProviderKeyRow.table.name
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
    var providerNames: TableNames { TableNames(kind: .provider, store: self) }
}

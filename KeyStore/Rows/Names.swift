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

/// The names of a store's provider keys, one of them the default; inside one transaction.
struct ProviderNames {
    private static let setting = "default.provider"

    let store: StoreTransaction

    func exists(_ name: String) throws(KeyStoreError) -> Bool {
        try store.connection.integer("SELECT count(*) FROM provider_keys WHERE name = ?", [.text(name)]) > 0
    }

    func hasKeyID(_ id: KeyID) throws(KeyStoreError) -> Bool {
        let values: [SQLiteValue] = [.integer(Int64(id.value))]
        return try store.connection.integer("SELECT count(*) FROM provider_keys WHERE key_id = ?", values) > 0
    }

    /// Returns every name once, in the order of its bytes.
    private func all() throws(KeyStoreError) -> [String] {
        var names: [String] = []
        for row in try store.connection.rows("SELECT DISTINCT name FROM provider_keys ORDER BY name") {
            if case .text(let bytes)? = row.first { names.append(String(decoding: bytes, as: UTF8.self)) }
        }
        return names
    }

    func defaultName() throws(KeyStoreError) -> String? { try store.setting(named: Self.setting) }

    /// Returns the name that a caller means: the given one, or the default.
    func resolve(_ name: String?) throws(KeyStoreError) -> String {
        if let name {
            guard try exists(name) else { throw KeyStoreError(.unknownName, "no provider key is named '\(name)'") }
            return name
        }
        if let name = try defaultName() { return name }
        let names = try all()
        guard !names.isEmpty else { throw KeyStoreError(.unknownName, "the store has no provider key") }
        throw KeyStoreError(
            .ambiguousName, "the store has several provider keys: name one of \(names.joined(separator: ", "))")
    }

    /// Checks that the name and the id of a new key are free.
    func checkIsNew(_ name: String, id: KeyID) throws(KeyStoreError) {
        guard try !exists(name) else { throw taken(name) }
        guard try !hasKeyID(id) else {
            throw KeyStoreError(.keyIDTaken, "the store already holds key \(id), under this or another name")
        }
    }

    func taken(_ name: String) -> KeyStoreError {
        KeyStoreError(.nameTaken, "a provider key is already named '\(name)'")
    }

    /// Sets the first name as the default; the only one left is the default too.
    func keepDefault() throws(KeyStoreError) {
        if let name = try defaultName(), try exists(name) { return }
        let names = try all()
        try store.setSetting(names.count == 1 ? names.first : nil, named: Self.setting)
    }

    func setDefault(_ name: String) throws(KeyStoreError) {
        try store.setSetting(try resolve(name), named: Self.setting)
    }

    func generation(after generation: UInt64) throws(KeyStoreError) -> UInt64 {
        let (next, overflow) = generation.addingReportingOverflow(1)
        guard !overflow else {
            throw KeyStoreError(
                .rotationRefused, "this key has the last possible generation: create one under a new name")
        }
        return next
    }
}

extension StoreTransaction {
    var providerNames: ProviderNames { ProviderNames(store: self) }
}

internal import Pushcrypt

/// A short text under a name. The names of the store's own settings contain a dot.
struct SettingRow: StoredRow {
    static let table = StoreTable("settings", key: "name", "value")
    static let put = table.put

    let name: String
    let value: String

    init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        name = try columns.text()
        value = try columns.text()
    }

    var values: [SQLiteValue] { [.text(name), .text(value)] }
}

extension StoreTransaction {
    func setting(named name: String) throws(KeyStoreError) -> String? {
        try row(SettingRow.self, "WHERE name = ?", .text(name))?.value
    }

    func setSetting(_ value: String?, named name: String) throws(KeyStoreError) {
        if let value {
            try put(SettingRow(name: name, value: value))
        } else {
            try delete(SettingRow.self, key: .text(name))
        }
    }
}

extension SQLiteKeyStore {
    /// The maximum length of a setting's value, in bytes.
    package static let maximumSettingLength = 4096

    /// Returns a text that a program keeps in the store, such as `title`; nil if it was never set.
    package func setting(named name: String) throws(KeyStoreError) -> String? {
        try checkSettingName(name)
        return try read { (store) throws(KeyStoreError) in try store.setting(named: name) }
    }

    /// Stores a text of at most 4096 bytes under a name of ASCII letters, digits and `-`; nil removes it.
    ///
    /// The text is authenticated, not secret.
    ///
    /// - Throws: `invalidName` for another name or a longer text.
    package func setSetting(_ value: String?, named name: String) throws(KeyStoreError) {
        try checkSettingName(name)
        guard value?.utf8.count ?? 0 <= Self.maximumSettingLength else {
            throw KeyStoreError(.invalidName, "a setting may have at most \(Self.maximumSettingLength) bytes")
        }
        try write { (store) throws(KeyStoreError) in try store.setSetting(value, named: name) }
    }

    private func checkSettingName(_ name: String) throws(KeyStoreError) {
        let isAllowed = name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        guard isAllowed, (1...StoreName.maximumLength).contains(name.utf8.count) else {
            throw KeyStoreError(.invalidName, "the name of a setting may only contain ASCII letters, digits and '-'")
        }
    }
}

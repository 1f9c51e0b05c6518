internal import Pushcrypt

/// What a backup would change for the devices and keys of the store that it replaces.
package struct RestoreDifference: Hashable, Sendable {
    /// Devices that have been removed since the backup.
    package private(set) var removed = Names()
    /// Devices that the backup lacks.
    package private(set) var lost = Names()
    /// Devices of which the backup has an earlier state.
    package private(set) var older = Names()
    /// Keys of this device that the backup lacks: what is sealed to them would open no more.
    package private(set) var lostKeys = Names()
    /// Whether the backup lacks the push key: relays would refuse the grants that phones have given for it.
    package private(set) var losesPushKey = false

    /// How many there are, and the first of them.
    package struct Names: Hashable, Sendable {
        private static let maximum = 3

        package private(set) var count = 0
        private var first: [String] = []

        fileprivate mutating func add(_ name: String) {
            count += 1
            if first.count < Self.maximum { first.append(name) }
        }

        fileprivate func text(_ what: (one: String, many: String)) -> String? {
            guard count > 0 else { return nil }
            let names = first.map { "'\($0)'" }.joined(separator: ", ") + (count > first.count ? ", …" : "")
            return "\(count) \(count == 1 ? what.one : what.many) (\(names))"
        }
    }

    /// Whether the backup takes nothing away and brings nothing back that was removed.
    package var isHarmless: Bool {
        removed.count + lost.count + older.count + lostKeys.count == 0 && !losesPushKey
    }

    /// What differs, in words that fit before and after the restore.
    ///
    /// - Parameter withRemoved: Whether removed devices come back.
    package func text(withRemoved: Bool) -> String {
        [
            lost.text(("device that the backup lacks", "devices that the backup lacks")),
            older.text(
                ("device with an older state in the backup", "devices with an older state in the backup")),
            lostKeys.text(("device key that the backup lacks", "device keys that the backup lacks")),
            losesPushKey ? "a push key that the backup lacks, and with it the grants of phones" : nil,
            removed.text(
                withRemoved
                    ? ("removed device that comes back", "removed devices that come back")
                    : ("removed device that stays removed", "removed devices that stay removed")),
        ].compactMap { $0 }.joined(separator: ", ")
    }
}

extension RestoreDifference {
    /// Compares the rows of a store with those of a backup of it, without checking them, and the device's keys.
    init(from old: SQLiteConnection, to backup: SQLiteConnection, _ keys: StoreKeys) throws(KeyStoreError) {
        let (devices, removals) = (DeviceRow.table, RemovedDeviceRow.table)
        _ = try backup.rows("SELECT id FROM \(devices.name)", []) { (row) throws(KeyStoreError) in
            let id = row[0]
            guard try old.firstRow(removals.selectTag, [id], { _ in true }) != nil else { return }
            removed.add(Self.text(id))
        }
        _ = try old.rows("SELECT id, tag FROM \(devices.name)", []) { (row) throws(KeyStoreError) in
            let (id, tag) = (row[0], row[1])
            guard let saved = try backup.firstRow(devices.selectTag, [id], { $0[0] }) else {
                return lost.add(Self.text(id))
            }
            if saved != tag { older.add(Self.text(id)) }
        }
        let savedKeys = try Self.deviceKeys(in: backup, keys)
        for key in try Self.deviceKeys(in: old, keys) where !savedKeys.contains(key) { lostKeys.add(key.description) }
        let key = try old.firstRow("SELECT public_key FROM push_key") { $0[0] }
        let saved = try backup.firstRow("SELECT public_key FROM push_key") { $0[0] }
        losesPushKey = key != nil && key != saved
    }

    /// The device's keys; none if its state is damaged.
    private static func deviceKeys(
        in connection: SQLiteConnection, _ keys: StoreKeys
    ) throws(KeyStoreError) -> [KeyID] {
        do throws(KeyStoreError) {
            let state = try SQLiteKeyStore(connection, nil, keys, nil, StoreOptions()).state()
            return state.accounts.flatMap { $0.keys.map(\.keyID) }
        } catch {
            guard error.code == .corruptStore else { throw error }
            return []
        }
    }

    private static func text(_ id: SQLiteValue) -> String {
        guard case .text(let bytes) = id else { return "?" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

public import Pushcrypt

/// A device that a provider seals to no more: kept, so that older data cannot bring it back.
public struct RemovedDevice: Hashable, Sendable {
    /// The provider's own name for it.
    public let id: String
    /// When it was removed, or the system noticed that it was gone.
    public let removedAt: Timestamp
    /// Why, for people and logs: 1 to 255 bytes without control characters, such as `unregistered`.
    public let reason: String?

    /// Makes a record.
    public init(id: String, removedAt: Timestamp, reason: String? = nil) {
        self.id = id
        self.removedAt = removedAt
        self.reason = reason
    }
}

extension RemovedDevice {
    /// Throws `invalidName` for a reason that is none, and `futureTime`.
    func check(at now: Timestamp) throws(KeyStoreError) {
        if let reason { try StoreName.check(reason, "the reason of a removal") }
        try removedAt.checkIsPast(now, "the time of a removal")
    }
}

struct RemovedDeviceRow: StoredRow {
    static let table = StoreTable("removed_devices", key: "id", "removed", "reason")

    let record: RemovedDevice

    init(_ record: RemovedDevice) { self.record = record }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        let id = try columns.text()
        let removedAt = try columns.time()
        record = RemovedDevice(id: id, removedAt: removedAt, reason: try columns.optionalText())
    }

    var values: [SQLiteValue] { [.text(record.id), .time(record.removedAt), .text(record.reason)] }
}

extension KeyStoreError {
    static func removed(_ device: RemovedDevice) -> KeyStoreError {
        let reason = device.reason.map { " (\($0))" } ?? ""
        return KeyStoreError(
            .removedDevice,
            "device '\(device.id)' was removed at \(device.removedAt)\(reason): it is sealed to again once it registers"
        )
    }

    static func unknownDevice(_ id: String) -> KeyStoreError {
        // Nothing has checked this name, so it is shown only if a terminal can take it.
        let name = StoreName.isAllowed(id) ? "'\(id)'" : Bytes(id.utf8.prefix(32)).hex
        return KeyStoreError(.unknownDevice, "there is no device \(name) in the store: 'device add' registers it")
    }
}

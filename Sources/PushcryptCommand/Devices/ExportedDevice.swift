internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// One line of `device export`: everything that a store knows of one device.
///
///     {"device",… the other members of a registration record …,"user","updated"}
///     {"device","removed","reason"}
///
/// All members are the provider's, so a line is read only if the provider says that it is an export. Times are in
/// milliseconds since 1970.
enum ExportedDevice {
    /// Reads a line. Without `user` the device keeps its user; with null it has none.
    static func change(_ line: ContiguousArray<UInt8>, at now: Timestamp) throws(CommandFailure) -> DeviceChange {
        let change: DeviceChange?
        do throws(KeyError) {
            change = try self.change(KeyRecord(line))
        } catch {
            throw CommandFailure(error, in: DeviceInput.name)
        }
        guard let change else { throw .refused("the line has no 'device', which every line of an export has") }
        try withStoreErrors { () throws(KeyStoreError) in try change.check(at: now) }
        return change
    }

    /// Returns nil for a record without a device's id.
    private static func change(_ record: KeyRecord) throws(KeyError) -> DeviceChange? {
        if let time = try record.time("removed") {
            guard try record.text("public_key") == nil else {
                throw KeyError(.malformedRecord, "the record has a public_key and says that the device was removed")
            }
            let reason = try record.text("reason")
            return try record.text("device").map { .removed(RemovedDevice(id: $0, removedAt: time, reason: reason)) }
        }
        let registration = try DeviceRegistration(record)
        let updatedAt = try record.time("updated")
        let owner = try owner(record)
        return registration.deviceID.map { .registered(id: $0, registration, owner: owner, updatedAt: updatedAt) }
    }

    private static func owner(_ record: KeyRecord) throws(KeyError) -> DeviceOwner {
        if let user = try record.text("user") { return .user(user) }
        return record.isNull("user") ? .nobody : .unchanged
    }

    /// Returns the line of a device, with its newline.
    static func text(_ device: DeviceRecord) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            device.registration.write(to: &json)
            if let user = device.user { json.string(user, for: "user") } else { json.null(for: "user") }
            json.integer(device.updatedAt.milliseconds, for: "updated")
        }
        return json.bytes + [newline]
    }

    /// Returns the line of a removed device, with its newline.
    static func text(_ removed: RemovedDevice) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(removed.id, for: "device")
            json.integer(removed.removedAt.milliseconds, for: "removed")
            if let reason = removed.reason { json.string(reason, for: "reason") }
        }
        return json.bytes + [newline]
    }
}

extension DeviceRecord {
    /// The record with which the device would register again.
    fileprivate var registration: DeviceRegistration {
        DeviceRegistration(
            deviceID: id, publicKey: publicKey, suites: suites, topic: topic, generation: generation,
            createdAt: createdAt, pinnedProvider: pinnedProvider, recoveryKeys: recoveryKeys, appVersion: appVersion)
    }
}

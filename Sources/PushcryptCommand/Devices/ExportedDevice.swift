internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// One line of `device export`: all that a store knows of one device.
///
///     {"device",… the other members of a registration record …,"user","updated"}
///     {"device","removed","reason"}
///
/// It is the provider's word in every member, and is read only where the provider says that it is. Times are in
/// milliseconds since 1970.
enum ExportedDevice {
    /// Reads a line. Without `user` the device stays with whom it belongs to; null makes it nobody's.
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

    /// nil for a record that does not say which device it is about.
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

    /// The line about a device, its newline included.
    static func text(_ device: DeviceRecord) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            device.registration.write(to: &json)
            if let user = device.user { json.string(user, for: "user") } else { json.null(for: "user") }
            json.integer(device.updatedAt.milliseconds, for: "updated")
        }
        return json.bytes + [newline]
    }

    /// The line about a device that was removed, its newline included.
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
    /// The record as its device would register again.
    fileprivate var registration: DeviceRegistration {
        DeviceRegistration(
            deviceID: id, publicKey: publicKey, suites: suites, topic: topic, generation: generation,
            createdAt: createdAt, pinnedSender: pinnedSender, appVersion: appVersion)
    }
}

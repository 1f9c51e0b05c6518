internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// One line of `device export`: everything that a store knows of one device.
///
///     {"device",… the other members of a registration record …,"user","updated","epoch"}
///     {"device","removed","reason","user","topic","generation","suite","key_id","update_key","sequence","lost"}
///
/// All members are the provider's, so a line is read only if the provider says that it is an export. Times are in
/// milliseconds since 1970.
enum ExportedDevice {
    /// Reads a line. Without `user` the device keeps its user; with null it has none.
    static func change(_ line: ContiguousArray<UInt8>, at now: Timestamp) throws -> DeviceChange {
        let change: DeviceChange?
        do throws(KeyError) {
            change = try self.change(KeyRecord(line))
        } catch {
            throw Failure(error, in: DeviceInput.name)
        }
        guard let change else { throw Failure.refused("the line has no 'device', which every line of an export has") }
        try change.check()
        return change
    }

    /// Returns nil for a record without a device's id.
    private static func change(_ record: KeyRecord) throws(KeyError) -> DeviceChange? {
        if let time = try record.time("removed") {
            guard try record.text("public_key") == nil else {
                throw KeyError(.malformedRecord, "the record has a public_key and says that the device was removed")
            }
            let reason = try record.text("reason")
            let (user, topic, lastKey) = (try record.text("user"), try record.topic(), try record.lastKey())
            let signing = RemovedDevice.Signing(
                updateKey: try record.updateKey(), sequence: try record.number("sequence") ?? 0)
            let isLost = try record.flag("lost") ?? false
            return try record.text("device").map {
                .removed(
                    RemovedDevice(
                        id: $0, removedAt: time, reason: reason, user: user, topic: topic, lastKey: lastKey,
                        signing: signing, isLost: isLost))
            }
        }
        let registration = try DeviceRegistration(record)
        let updatedAt = try record.time("updated")
        let owner = try owner(record)
        let epoch = try record.epoch()
        return registration.deviceID.map {
            .registered(id: $0, registration, owner: owner, updatedAt: updatedAt, epoch: epoch)
        }
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
            if let epoch = device.epoch { json.integer(epoch, for: "epoch") }
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
            if let user = removed.user { json.string(user, for: "user") }
            if let topic = removed.topic { json.string(topic.bundleID, for: "topic") }
            if let key = removed.lastKey {
                json.integer(key.generation, for: "generation")
                json.integer(key.suite.rawValue, for: "suite")
                json.string(key.id.description, for: "key_id")
            }
            if let key = removed.signing.updateKey { json.string(key.text, for: "update_key") }
            if removed.signing.sequence > 0 { json.integer(removed.signing.sequence, for: "sequence") }
            if removed.isLost { json.bool(true, for: "lost") }
        }
        return json.bytes + [newline]
    }
}

extension DeviceRecord {
    /// The record with which the device would register again.
    fileprivate var registration: DeviceRegistration {
        var registration = DeviceRegistration(
            deviceID: id, publicKey: publicKey, suites: suites, topic: topic, generation: generation,
            createdAt: createdAt, pinnedProvider: pinnedProvider, appVersion: appVersion)
        (registration.token, registration.environment) = (token, environment)
        (registration.updateKey, registration.grant) = (updateKey, grant)
        registration.sequence = sequence == 0 ? nil : sequence
        return registration
    }
}

extension KeyRecord {
    fileprivate func epoch() throws(KeyError) -> UInt32? {
        guard let number = try number("epoch") else { return nil }
        guard let epoch = UInt32(exactly: number) else {
            throw KeyError(.malformedRecord, "the record's epoch is not a number of 32 bits")
        }
        return epoch
    }

    /// The key that a removed device had last; nil if the line does not say it.
    fileprivate func lastKey() throws(KeyError) -> RemovedDevice.LastKey? {
        guard let generation = try number("generation"), let text = try text("key_id"), let suite = try suite() else {
            return nil
        }
        guard let id = KeyID(text), let suite = CipherSuite(rawValue: suite) else {
            throw KeyError(.malformedRecord, "the record's key_id is not eight hexadecimal digits")
        }
        return RemovedDevice.LastKey(generation: generation, suite: suite, id: id)
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceExport = Command(
        "export", "write all devices, for 'device import --from-export'",
        about:
            "One object per line: each device, then each removed device, with the time of its last change. Anyone who can change it decides which keys are sealed to.",
        examples: ["pushcrypt device export -o devices.ndjson"]
    ) { a in
        let store = StoreArguments(&a)
        let output = OutputArguments(&a)
        return { console in
            let store = try console.open(store)
            // Anyone who could change it before it is imported would decide whose key is sealed to.
            let file = try BatchOutput(isSecret: true, output, console)
            var printer = DevicePrinter(file.sink)
            try printer.printing { printer in
                try store.forEachDevice { try printer.print($0, ExportedDevice.text) }
                try store.forEachRemovedDevice { try printer.print($0, ExportedDevice.text) }
            }
            guard printer.damaged == 0 else {
                if !file.sink.isFile { throw ExitCode.refused }
                throw Failure.refused(
                    "\(file.sink.name) was not written: not every row could be read",
                    hint: "without --output the others go to standard output; pushcrypt doctor says what to do")
            }
            try file.finish()
        }
    }
}

/// One line of `device export`: everything that a store knows of one device.
///
///     {"device",… the other members of a registration record …,"user","updated","epoch"}
///     {"device","removed","reason","user","topic","generation","suite","key_id","update_key","sequence","lost"}
///
/// All members are the provider's, so a line is read only if the provider says that it is an export. Times are in
/// milliseconds since 1970.
enum ExportedDevice {
    /// Reads a line. Without `user` the device keeps its user; with null it has none.
    static func change(_ line: ContiguousArray<UInt8>) throws -> DeviceChange {
        let change = try naming(DeviceInput.name) { try self.change(KeyRecord(line)) }
        guard let change else { throw Failure.refused("the line has no 'device', which every line of an export has") }
        try change.check()
        return change
    }

    /// Returns nil for a record without a device's id.
    private static func change(_ record: KeyRecord) throws -> DeviceChange? {
        if let time = try record.time("removed") {
            guard try record.text("public_key") == nil else {
                throw KeyError(.malformedRecord, "the record has a public_key and says that the device was removed")
            }
            let removed = RemovedDevice(
                id: try record.text("device") ?? "", removedAt: time, reason: try record.text("reason"),
                user: try record.text("user"), topic: try record.topic(), lastKey: try record.lastKey(),
                signing: .init(updateKey: try record.updateKey(), sequence: try record.number("sequence") ?? 0),
                isLost: try record.flag("lost") ?? false)
            return removed.id.isEmpty ? nil : .removed(removed)
        }
        let registration = try DeviceRegistration(record)
        let owner = try record.text("user").map(DeviceOwner.user) ?? (record.isNull("user") ? .nobody : .unchanged)
        let (updatedAt, epoch) = (try record.time("updated"), try record.epoch())
        return registration.deviceID.map {
            .registered(id: $0, registration, owner: owner, updatedAt: updatedAt, epoch: epoch)
        }
    }

    /// Returns the line of a device, with its newline.
    static func text(_ device: DeviceRecord) -> ContiguousArray<UInt8> {
        jsonObject { json in
            device.registration.write(to: &json)
            if let user = device.user { json.string(user, for: "user") } else { json.null(for: "user") }
            json.integer(device.updatedAt.milliseconds, for: "updated")
            if let epoch = device.epoch { json.integer(epoch, for: "epoch") }
        } + [newline]
    }

    /// Returns the line of a removed device, with its newline.
    static func text(_ removed: RemovedDevice) -> ContiguousArray<UInt8> {
        jsonObject { json in
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
        } + [newline]
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
    fileprivate func epoch() throws -> UInt32? {
        guard let number = try number("epoch") else { return nil }
        guard let epoch = UInt32(exactly: number) else {
            throw KeyError(.malformedRecord, "the record's epoch is not a number of 32 bits")
        }
        return epoch
    }

    /// The key that a removed device had last; nil if the line does not say it.
    fileprivate func lastKey() throws -> RemovedDevice.LastKey? {
        guard let generation = try number("generation"), let text = try text("key_id"), let suite = try suite() else {
            return nil
        }
        guard let id = KeyID(text), let suite = CipherSuite(rawValue: suite) else {
            throw KeyError(.malformedRecord, "the record's key_id is not eight hexadecimal digits")
        }
        return RemovedDevice.LastKey(generation: generation, suite: suite, id: id)
    }
}

/// Writes line after line, and reports damaged rows instead of stopping at the first.
struct DevicePrinter {
    /// The bytes that are gathered before they are written.
    private static let pieceLength = 65_536

    private let sink: BatchSink
    private var bytes: ContiguousArray<UInt8> = []
    private(set) var damaged = 0

    init(_ sink: BatchSink) { self.sink = sink }

    mutating func print<Row>(
        _ row: Result<Row, KeyStoreError>, _ text: (Row) -> ContiguousArray<UInt8>
    ) throws {
        switch row {
        case .success(let row):
            bytes += text(row)
            if bytes.count >= Self.pieceLength { try flush() }
        case .failure(let error):
            damaged += 1
            // Where both go to one terminal, in the order in which they were found.
            try flush()
            sink.console.error("\(error.code): \(error)")
        }
    }

    /// Writes what `body` prints, also before it fails.
    mutating func printing(_ body: (inout DevicePrinter) throws -> Void) throws {
        let printed = Result { try body(&self) }
        try flush()
        try printed.get()
    }

    private mutating func flush() throws {
        try sink.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

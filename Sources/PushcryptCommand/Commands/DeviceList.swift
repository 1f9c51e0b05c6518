internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceList = Command(
        "list", "list the devices, one per line",
        about:
            "Columns: the device, its key, the app, the key's age in days, the first digits of its push token or 'grant' if it has a relay's, the user.",
        examples: [
            "pushcrypt device list",
            Example(
                "pushcrypt device list --json",
                "one registration record per line, with the user and the last change"),
        ]
    ) { a in
        let user = a.value("--user", "USER", help: "only this user's")
        let showsRemoved = a.flag("--removed", help: "the removed devices, with the time and the reason")
        let (store, isJSON) = (StoreArguments(&a), a.json())
        a.atMostOne(of: "--user", "--removed")
        return { console in
            let store = try console.open(store)
            var printer = DevicePrinter(try BatchOutput(isSecret: false, nil, console).sink)
            var foreign = try ForeignProviders(of: store)
            let now = console.timestamp
            func show(_ device: Result<DeviceRecord, KeyStoreError>, _ printer: inout DevicePrinter) throws {
                if case .success(let record) = device {
                    foreign.add(record.id, pinning: record.pinnedProvider)
                }
                try printer.print(device) { isJSON ? ExportedDevice.text($0) : columns($0, at: now) }
            }
            try printer.printing { printer in
                if showsRemoved {
                    try store.forEachRemovedDevice { try printer.print($0, isJSON ? ExportedDevice.text : columns) }
                } else if let user {
                    for device in try store.devices(ofUser: user) { try show(device, &printer) }
                } else {
                    try store.forEachDevice { try show($0, &printer) }
                }
            }
            console.warn(of: foreign)
            if printer.damaged > 0 { throw ExitCode.refused }
        }
    }

    static let deviceShow = Command(
        "show", "show all that is known of a device",
        examples: ["pushcrypt device show phone1", "pushcrypt device show phone1 --json"]
    ) { a in
        let (store, isJSON) = (StoreArguments(&a), a.json())
        let id = a.operand("ID", help: "the provider's name for the device")
        return { console in
            let store = try console.open(store)
            let device = try store.readDevices { (reader) throws(KeyStoreError) in try reader.device(id: id) }
            if isJSON {
                try console.write(ExportedDevice.text(device).span)
            } else {
                try console.write(listed(rows(device, at: console.timestamp)))
            }
            var foreign = try ForeignProviders(of: store)
            foreign.add(device.id, pinning: device.pinnedProvider)
            console.warn(of: foreign)
        }
    }
}

/// All that is known of a device, for people.
private func rows(_ device: DeviceRecord, at now: Timestamp) -> [(String, String?)] {
    let key = "\(device.publicKey), id \(device.publicKey.id), suite \(device.publicKey.suite.rawValue)"
    return [
        ("device", device.id), ("user", device.user), ("app", device.topic?.bundleID),
        ("app version", device.appVersion?.description), ("key", key),
        ("key's age", "\(device.keyAge(at: now)), generation \(device.generation)"),
        ("registered", "\(device.updatedAt)"),
        ("suites", device.suites.map { "\($0)" }.joined(separator: ", ")),
        ("pinned", device.pinnedProvider.map { "\($0)" }),
        ("epoch", device.epoch.map { "\($0), of its newest certificate" }), ("token", device.token),
        ("environment", device.environment?.rawValue),
        (
            "relay",
            device.grant.map { _ in "has given a grant" } ?? device.endedGrant.map { _ in "has ended its grant" }
        ),
    ]
}

private func columns(_ device: DeviceRecord, at now: Timestamp) -> ContiguousArray<UInt8> {
    columns(
        device.id, "\(device.publicKey)", device.topic?.bundleID ?? "-", device.keyAge(at: now),
        device.token.map { "\($0.prefix(8))" } ?? (device.grant == nil ? "-" : "grant"), device.user)
}

extension DeviceRecord {
    /// How long ago the device made its key, in days: `31d`.
    func keyAge(at now: Timestamp) -> String {
        let milliseconds = now.milliseconds > createdAt.milliseconds ? now.milliseconds - createdAt.milliseconds : 0
        return "\(milliseconds / 86_400_000)d"
    }
}

private func columns(_ removed: RemovedDevice) -> ContiguousArray<UInt8> {
    columns(removed.id, "\(removed.removedAt)", removed.reason)
}

/// One line; only the last column may be missing.
private func columns(_ columns: String?...) -> ContiguousArray<UInt8> {
    let words = columns.compactMap { $0.map { sanitized(forTerminal: $0) } }
    return ContiguousArray((words.joined(separator: "  ") + "\n").utf8)
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceShow = Command(
        "show", "show all that is known of a device",
        examples: ["pushcrypt device show phone1", "pushcrypt device show phone1 --json"]
    ) { a in
        let store = StoreArguments(&a)
        let isJSON = a.json()
        let id = a.operand("ID", help: "the provider's name for the device")
        return { console in
            let store = try console.open(store)
            let device = try store.readDevices { (reader) throws(KeyStoreError) in try reader.device(id: id) }
            if isJSON {
                try console.write(ExportedDevice.text(device).span)
            } else {
                let rows = DeviceRows(device, at: console.timestamp).rows
                try console.write(listed(rows.map { ($0.name, sanitized(forTerminal: $0.value)) }, indent: 0))
            }
            var foreign = try ForeignProviders(of: store)
            foreign.add(device.id, pinning: device.pinnedProvider)
            console.warn(of: foreign)
            return .done
        }
    }
}

/// All that is known of a device, for people.
private struct DeviceRows {
    let rows: [(name: String, value: String)]

    init(_ device: DeviceRecord, at now: Timestamp) {
        let ended = device.endedGrant.map { _ in "has ended its grant" }
        let key = "\(device.publicKey), id \(device.publicKey.id), suite \(device.publicKey.suite.rawValue)"
        let values: [(String, String?)] = [
            ("device", device.id), ("user", device.user), ("app", device.topic?.bundleID),
            ("app version", device.appVersion?.description), ("key", key),
            ("key's age", "\(device.keyAge(at: now)), generation \(device.generation)"),
            ("registered", "\(device.updatedAt)"),
            ("suites", device.suites.map { "\($0)" }.joined(separator: ", ")),
            ("pinned", device.pinnedProvider.map { "\($0)" }),
            ("epoch", device.epoch.map { "\($0), of its newest certificate" }), ("token", device.token),
            ("environment", device.environment?.rawValue),
            ("relay", device.grant.map { _ in "has given a grant" } ?? ended),
        ]
        rows = values.compactMap { name, value in value.map { (name, $0) } }
    }
}

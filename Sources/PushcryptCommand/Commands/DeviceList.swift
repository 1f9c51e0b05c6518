internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceList = Command(
        "list", "list the devices, one per line",
        about: [
            "Columns: the device, its key, the app, the key's age in days, the first digits of its push token or 'grant' if it has a relay's, the user."
        ],
        examples: [
            "pushcrypt device list",
            Example(
                "pushcrypt device list --json",
                "one registration record per line, with the user and the last change"),
        ]
    ) { a in
        let user = a.value("--user", "USER", help: "only this user's")
        let showsRemoved = a.flag("--removed", help: "the removed devices, with the time and the reason")
        let store = StoreArguments(&a)
        let isJSON = a.json()
        a.atMostOne(of: "--user", "--removed")
        return { console in
            let store = try console.open(store)
            var printer = DevicePrinter(console)
            var foreign = try ForeignProviders(of: store)
            let now = console.timestamp
            func show(_ device: Result<DeviceRecord, KeyStoreError>) throws {
                if case .success(let record) = device {
                    foreign.add(record.id, pinning: record.pinnedProvider)
                }
                try printer.print(device) { isJSON ? ExportedDevice.text($0) : columns($0, at: now) }
            }
            let failure = listFailure {
                if showsRemoved {
                    try store.forEachRemovedDevice { try printer.print($0, isJSON ? ExportedDevice.text : columns) }
                } else if let user {
                    for device in try store.devices(ofUser: user) { try show(device) }
                } else {
                    try store.forEachDevice(show)
                }
            }
            try printer.flush()
            if let failure { throw failure }
            console.warn(of: foreign)
            return printer.damaged == 0 ? .done : .refused
        }
    }
}

extension Command {
    static let deviceExport = Command(
        "export", "write all devices, for 'device import --from-export'",
        about: [
            "One object per line: each device, then each removed device, with the time of its last change. Anyone who can change it decides which keys are sealed to."
        ], examples: ["pushcrypt device export -o devices.ndjson"]
    ) { a in
        let store = StoreArguments(&a)
        let output = OutputArguments(&a)
        return { console in
            let store = try console.open(store)
            guard let path = output.file else {
                var printer = DevicePrinter(console)
                try export(store, to: &printer)
                return printer.damaged == 0 ? .done : .refused
            }
            // Anyone who could change it before it is imported would decide whose key is sealed to.
            let file = try OutputFile(path, mode: 0o600, force: output.force)
            var printer = DevicePrinter(console, output: file.descriptor, name: quoted(path))
            try export(store, to: &printer)
            guard printer.damaged == 0 else {
                throw Failure.refused(
                    "\(quoted(path)) was not written: not every row could be read",
                    hint: "without --output the others go to standard output; pushcrypt doctor says what to do")
            }
            try file.commit()
            return .done
        }
    }
}

private func export(_ store: SQLiteKeyStore, to printer: inout DevicePrinter) throws {
    let failure = listFailure {
        try store.forEachDevice { try printer.print($0, ExportedDevice.text) }
        try store.forEachRemovedDevice { try printer.print($0, ExportedDevice.text) }
    }
    try printer.flush()
    if let failure { throw failure }
}

/// Returns the error of the store or of writing that ended a list.
private func listFailure(_ body: () throws -> Void) -> Failure? {
    do {
        try body()
        return nil
    } catch let error as KeyStoreError {
        return Failure(error)
    } catch let error as Failure {
        return error
    } catch {
        return .failed("the devices could not be listed")
    }
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

/// Writes line after line, and reports damaged rows instead of stopping at the first.
private struct DevicePrinter: ~Copyable {
    private let console: Console
    private let output: Descriptor
    private let name: String
    private var bytes: ContiguousArray<UInt8> = []
    private(set) var damaged = 0

    init(_ console: Console) { self.init(console, output: console.output, name: "standard output") }

    init(_ console: Console, output: Descriptor, name: String) {
        self.console = console
        self.output = output
        self.name = name
        bytes.reserveCapacity(2 * OutputBuffer.size)
    }

    mutating func print<Row>(
        _ row: Result<Row, KeyStoreError>, _ text: (Row) -> ContiguousArray<UInt8>
    ) throws {
        switch row {
        case .success(let row):
            bytes += text(row)
            if bytes.count >= OutputBuffer.size { try flush() }
        case .failure(let error):
            damaged += 1
            // Where both go to one terminal, in the order in which they were found.
            try flush()
            console.error("\(error.code): \(error)")
        }
    }

    mutating func flush() throws {
        do throws(SystemError) {
            try output.writeAll(bytes.span)
        } catch {
            throw error == .readerIsGone ? Failure.readerIsGone : .failed("cannot write \(name): \(error.text)")
        }
        bytes.removeAll(keepingCapacity: true)
    }
}

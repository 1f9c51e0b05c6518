internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceList = Command(
        "list", "list the devices, one a line",
        options: [
            Option("--user", "USER", .name(.user), help: "only this user's"),
            Option(flag: "--removed", help: "the devices that were removed, with the time and the reason"),
            .store, .passphraseFile, .json,
        ],
        examples: [
            Example("pushcrypt device list --json", "one registration record a line, and whose it is and since when"),
            Example("pushcrypt device list --user alice"),
        ], run: runDeviceList)

    static let deviceExport = Command(
        "export", "write what the store knows of all devices, for 'device import --from-export'",
        discussion: [
            "An object a line: each device, then each device that was removed. With 'updated', so that a store that takes it keeps what it knows better.",
            "There is no secret in it; whoever can change it on its way decides to which keys is sealed.",
        ],
        options: [.store, .passphraseFile, .output, .force],
        examples: [Example("pushcrypt device export -o devices.ndjson")], run: runDeviceExport)
}

private func runDeviceList(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--user", "--removed")
    let store = try console.openStore(invocation)
    let isJSON = invocation.flag("--json")
    var printer = DevicePrinter(console)
    try withListErrors {
        if invocation.flag("--removed") {
            try store.forEachRemovedDevice { try printer.print($0, isJSON ? ExportedDevice.text : columns) }
        } else if let user = invocation.value("--user") {
            for device in try store.devices(ofUser: user) {
                try printer.print(device, isJSON ? ExportedDevice.text : columns)
            }
        } else {
            try store.forEachDevice { try printer.print($0, isJSON ? ExportedDevice.text : columns) }
        }
    }
    try printer.flush()
    return printer.damaged == 0 ? .done : .refused
}

private func runDeviceExport(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let path = invocation.value("--output").flatMap { $0 == "-" ? nil : $0 }
    guard let path else {
        var printer = DevicePrinter(console)
        try export(store, to: &printer)
        return printer.damaged == 0 ? .done : .refused
    }
    // Whoever could change it before it is imported would decide whose key is sealed to.
    let file = try OutputFile(path, mode: 0o600, force: invocation.flag("--force"))
    var printer = DevicePrinter(console, output: file.descriptor, name: quoted(path))
    try export(store, to: &printer)
    guard printer.damaged == 0 else {
        throw .refused(
            "\(quoted(path)) was not written: not every row could be read",
            hint: "without --output the others go to standard output; pushcrypt doctor says what to do")
    }
    try file.commit()
    return .done
}

private func export(_ store: SQLiteKeyStore, to printer: inout DevicePrinter) throws(CommandFailure) {
    try withListErrors {
        try store.forEachDevice { try printer.print($0, ExportedDevice.text) }
        try store.forEachRemovedDevice { try printer.print($0, ExportedDevice.text) }
    }
    try printer.flush()
}

/// Runs calls that throw what the store throws, or what writing does.
private func withListErrors(_ body: () throws -> Void) throws(CommandFailure) {
    do {
        try body()
    } catch let error as KeyStoreError {
        throw CommandFailure(error)
    } catch let error as CommandFailure {
        throw error
    } catch {
        throw .failed("the devices could not be listed")
    }
}

private func columns(_ device: DeviceRecord) -> ContiguousArray<UInt8> {
    columns(device.id, "\(device.publicKey)", device.topic?.bundleID ?? "-", device.user)
}

private func columns(_ removed: RemovedDevice) -> ContiguousArray<UInt8> {
    columns(removed.id, "\(removed.removedAt)", removed.reason)
}

/// One line; a column that is not there is the last.
private func columns(_ columns: String?...) -> ContiguousArray<UInt8> {
    let words = columns.compactMap { $0.map { sanitized(forTerminal: $0) } }
    return ContiguousArray((words.joined(separator: "  ") + "\n").utf8)
}

/// Writes line after line, and tells of the rows that are damaged instead of ending with the first.
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
    ) throws(CommandFailure) {
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

    mutating func flush() throws(CommandFailure) {
        do throws(SystemError) {
            try output.writeAll(bytes.span)
        } catch {
            throw error == .readerIsGone ? .readerIsGone : .failed("cannot write \(name): \(error.text)")
        }
        bytes.removeAll(keepingCapacity: true)
    }
}

internal import Pushcrypt
internal import PushcryptKeyStore

/// `device import`: many records, in transactions of thousands, so that an interruption loses only the last of them and
/// the same file can be taken again.
func runDeviceImport(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let input = try console.read(invocation.operand("FILE"), limit: DeviceInput.maximumImport)
    let now = console.timestamp
    let replace = invocation.flag("--replace")
    var batch = Batch()
    var tally = Tally()
    var number = 0
    var rest = input[...]
    // Line by line, because an array of all lines takes many times the file's length when they are short.
    while !rest.isEmpty {
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest.dropFirst(line.count + 1)
        number += 1
        guard !line.isEmpty else { continue }
        do throws(CommandFailure) {
            let registration = try DeviceInput.registration(ContiguousArray(line), at: now)
            guard let id = registration.deviceID else {
                throw .refused("the record has no 'device': add what the provider calls it")
            }
            batch.devices.append(.registered(id: id, registration))
            batch.lines.append(number)
        } catch {
            tally.refused += 1
            console.error("line \(number): \(error.message)")
        }
        if batch.isFull { try take(&batch, into: store, replace, now, &tally, console) }
    }
    try take(&batch, into: store, replace, now, &tally, console)
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object { json in
            json.integer(tally.added, for: "added")
            json.integer(tally.updated, for: "updated")
            json.integer(tally.unchanged, for: "unchanged")
            json.integer(tally.refused, for: "refused")
        }
        try console.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else {
        console.hint(
            "\(tally.added) added, \(tally.updated) updated, \(tally.unchanged) unchanged, \(tally.refused) refused")
    }
    return tally.refused == 0 ? .done : .refused
}

/// What became of the lines.
private struct Tally {
    var added = 0
    var updated = 0
    var unchanged = 0
    var refused = 0
}

/// What one transaction takes, and the lines that it came from.
private struct Batch {
    var devices: [DeviceChange] = []
    var lines: [Int] = []

    init() {
        devices.reserveCapacity(SQLiteKeyStore.importChunk)
        lines.reserveCapacity(SQLiteKeyStore.importChunk)
    }

    var isFull: Bool { devices.count == SQLiteKeyStore.importChunk }
}

private func take(
    _ batch: inout Batch, into store: SQLiteKeyStore, _ replace: Bool, _ now: Timestamp, _ tally: inout Tally,
    _ console: Console
) throws(CommandFailure) {
    guard !batch.devices.isEmpty else { return }
    let devices = batch.devices
    let result = try withStoreErrors { () throws(KeyStoreError) in
        try store.importDevices(devices, replace: replace, now: now)
    }
    tally.added += result.added
    tally.updated += result.updated
    tally.unchanged += result.unchanged
    tally.refused += result.refused.count
    for refusal in result.refused {
        console.error("line \(batch.lines[refusal.index]): \(refusal.error.code): \(refusal.error)")
    }
    batch = Batch()
}

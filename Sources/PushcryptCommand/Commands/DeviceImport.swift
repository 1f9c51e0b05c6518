internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceImport = Command(
        "import", "take what many phones have sent, or what another store knows of many devices",
        discussion: [
            "Each line is an object: 'device' is what the provider calls the device, 'user' says whose it is and may be missing, and 'record' is what the phone has sent, unchanged: the registration record or the key. It is taken as by 'device add', except for a device that was removed: that one comes back only if the record says in 'created' that its key was made after that. What is older counts as stale and changes nothing. A line that is refused is reported with its number; the others are taken, and the exit code is then 65.",
            "What the record says of a device or a user is not read: a phone could take another's place.",
            "--from-export reads what 'device export' has written instead, here or for another store. A line is taken when its 'updated', or the time of a removal, is later than what is held, whatever generation it has: so two stores that take each other's exports agree. Never read so what phones have sent.",
        ],
        operands: [Operand("FILE", .input, .optional, help: "newline-delimited JSON; standard input otherwise")],
        options: [
            Option(flag: "--from-export", help: "the lines are what 'device export' wrote"),
            Option(flag: "--replace", help: "take each line whatever is held"), .store, .passphraseFile, .json,
        ],
        examples: [
            Example("pushcrypt device import devices.ndjson"),
            Example("pushcrypt --store A device export | pushcrypt --store B device import --from-export"),
        ], run: runDeviceImport)
}

/// In transactions of many lines, so that an interruption loses only the last of them and the same file can be taken again.
private func runDeviceImport(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let now = console.timestamp
    let replace = invocation.flag("--replace")
    let isExport = invocation.flag("--from-export")
    var lines = try NumberedLines(invocation.operand("FILE"), console)
    var counts = ImportCounts()
    try lines.forEach { (line) throws(CommandFailure) in
        try isExport ? ExportedDevice.change(line, at: now) : DeviceLine.change(line, at: now)
    } take: { (items, lines) throws(CommandFailure) in
        let result = try withStoreErrors { () throws(KeyStoreError) in
            try store.importDevices(items.map(\.item), replace: replace, at: now)
        }
        counts.add(result)
        for refusal in result.refused {
            lines.refuse(items[refusal.index].number, "\(refusal.error.code): \(refusal.error)")
        }
    }
    counts.refused = lines.refused
    try console.report(counts.all, asJSON: invocation.flag("--json"))
    return counts.refused == 0 ? .done : .refused
}

/// What became of the lines.
private struct ImportCounts {
    var added = 0
    var updated = 0
    var unchanged = 0
    var removed = 0
    var stale = 0
    var refused = 0

    mutating func add(_ result: DeviceImportResult) {
        added += result.added
        updated += result.updated
        unchanged += result.unchanged
        removed += result.removed
        stale += result.stale
    }

    var all: [(name: String, count: Int)] {
        [
            ("added", added), ("updated", updated), ("unchanged", unchanged), ("removed", removed), ("stale", stale),
            ("refused", refused),
        ]
    }
}

extension Console {
    /// Tells what became of many things: as data for programs, otherwise for people.
    func report(_ counts: [(name: String, count: Int)], asJSON: Bool) throws(CommandFailure) {
        guard asJSON else {
            let words = counts.map { "\($0.count) \($0.name.split(separator: "_").joined(separator: " "))" }
            return hint(words.joined(separator: ", "))
        }
        var json = JSONWriter()
        json.object { json in for (name, count) in counts { json.integer(count, for: name) } }
        try write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    }
}

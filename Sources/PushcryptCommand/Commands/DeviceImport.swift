internal import Pushcrypt
internal import PushcryptKeyStore

extension Command {
    static let deviceImport = Command(
        "import", "take what another store, or a database, knows of many devices",
        discussion: [
            "Each line is an object: a registration record with its 'device', or what 'device export' prints. 'user' says whose the device is. A line that is refused is reported with its number; the others are taken, and the exit code is then 65.",
            "A line with 'updated', as an export has it, is taken when it is later than what is held, so two stores that take each other's exports agree. One without is a registration as for 'device add'. A device that was removed comes back only by a line that is later than that: by 'updated', otherwise by 'created'. What is older counts as stale and changes nothing.",
            "'device', 'user' and 'updated' are the provider's to say. In a record that comes from a phone, set them.",
        ],
        operands: [Operand("FILE", .input, .optional, help: "newline-delimited JSON; standard input otherwise")],
        options: [
            Option(flag: "--replace", help: "take each line whatever is held"), .store, .passphraseFile, .json,
        ],
        examples: [
            Example("pushcrypt device import devices.ndjson"),
            Example("pushcrypt --store A device export | pushcrypt --store B device import"),
        ], run: runDeviceImport)
}

/// In transactions of many lines, so that an interruption loses only the last of them and the same file can be taken again.
private func runDeviceImport(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let now = console.timestamp
    let replace = invocation.flag("--replace")
    var lines = try NumberedLines(invocation.operand("FILE"), console)
    var counts = ImportCounts()
    try lines.forEach { (line) throws(CommandFailure) in
        try DeviceLine.change(line, at: now)
    } take: { (items, lines) throws(CommandFailure) in
        let result = try withStoreErrors { () throws(KeyStoreError) in
            try store.importDevices(items.map(\.item), replace: replace, now: now)
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

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    /// `device import`: in transactions of many lines, so that an interruption loses only the last of them and the same file can
    /// be imported again.
    static let deviceImport = Command(
        "import", "register many devices, or import what another store knows of them",
        about: [
            "Each line is an object: 'device', the provider's name for it; 'user', if known, who was logged in; 'token' and 'environment', if you keep them; and 'record', the registration record or key as the phone sent it. It is registered as by 'device add', but a removed device comes back only if the record's 'created' is later than the removal; an older record is stale and changes nothing. A refused line is reported with its number, and the command ends with 65.",
            "--from-export reads the output of 'device export'. A line takes effect if its suite, then its generation, then its 'updated' is later than the store's; a removal if its time is later. So two stores that import each other's exports end up equal. Never read what phones have sent this way.",
        ],
        examples: [
            "pushcrypt device import devices.ndjson",
            "pushcrypt --store A device export | pushcrypt --store B device import --from-export",
        ]
    ) { a in
        let isExport = a.flag("--from-export", help: "the lines are the output of 'device export'")
        let replaces = a.flag("--replace", help: "import each line, whatever the store has for that device")
        let store = StoreArguments(&a)
        let isJSON = a.json()
        let file = a.optionalInput("FILE", help: "newline-delimited JSON; default standard input")
        return { console in
            let store = try console.open(store)
            let now = console.timestamp
            var lines = try NumberedLines(file, console)
            var counts = ImportCounts()
            var foreign = try ForeignProviders(of: store)
            try lines.forEach { line in
                try isExport ? ExportedDevice.change(line, at: now) : DeviceLine.change(line, at: now)
            } take: { items, lines in
                let result = try store.importDevices(items.map(\.item), replace: replaces, at: now)
                counts.add(result)
                foreign.add(items.map(\.item), except: Set(result.refused.map(\.index)))
                for refusal in result.refused {
                    lines.refuse(items[refusal.index].number, "\(refusal.error.code): \(refusal.error)")
                }
            }
            counts.refused = lines.refused
            counts.foreign = foreign.count
            console.warn(of: foreign)
            try console.report(counts.all, asJSON: isJSON)
            return counts.refused == 0 ? .done : .refused
        }
    }
}

/// The outcomes of the lines.
private struct ImportCounts {
    var added = 0
    var updated = 0
    var unchanged = 0
    var removed = 0
    var stale = 0
    var refused = 0
    var foreign = 0

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
        ] + (foreign > 0 ? [("foreign", foreign)] : [])
    }
}

extension Console {
    /// Reports counts: as JSON on standard output, or as a line for people.
    func report(_ counts: [(name: String, count: Int)], asJSON: Bool) throws {
        guard asJSON else {
            let words = counts.map { "\($0.count) \($0.name.split(separator: "_").joined(separator: " "))" }
            return changed(words.joined(separator: ", "))
        }
        var json = JSONWriter()
        json.object { json in for (name, count) in counts { json.integer(count, for: name) } }
        try write(line: json.bytes)
    }
}

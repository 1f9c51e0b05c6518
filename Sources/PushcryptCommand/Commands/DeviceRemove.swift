internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceRemove = Command(
        "remove", "remove devices, and remember that they are gone",
        about: [
            "Nothing is sealed for a removed device until 'device add' registers it again; older data does not bring it back.",
            "--from-apns-410 reads answers of APNs, one object per line: 'to' or 'device', 'token', 'status', 'reason' and 'timestamp'. The reason Unregistered or ExpiredToken removes the device, unless it has registered since or has another token now; another reason of status 410 is an error, and other answers are ignored. The forms of aioapns and node-apn are read too, with 'to' beside them. Answers through a relay have 'grant' instead of 'token'; a reason such as grant-revoked ends that grant but keeps the device; the reply to its next record says so. The same file may be read again.",
        ],
        examples: [
            "pushcrypt device remove phone1",
            "pushcrypt device remove --user alice --reason 'account closed'",
            "pushcrypt device remove --from-apns-410 answers.ndjson",
        ]
    ) { a in
        let command = DeviceRemoveCommand(&a)
        return { try command.run($0) }
    }
}

struct DeviceRemoveCommand {
    private let ids: [String]
    private let user: String?
    private let readsAnswers: Bool
    private let reason: String?
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        user = arguments.value("--user", "USER", help: "all devices of this user, instead of IDs")
        readsAnswers = arguments.flag(
            "--from-apns-410", help: "remove devices that APNs reports as gone, from a file or standard input")
        reason = arguments.value("--reason", "TEXT", help: "the reason, for people and logs")
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        arguments.atMostOne(of: "--from-apns-410", "--reason")
        arguments.atMostOne(of: "--from-apns-410", "--user")
        ids = arguments.operands(
            "ID", help: "the device; with --from-apns-410 the file of answers")
    }

    func run(_ console: Console) throws -> ExitCode {
        if readsAnswers {
            guard ids.count <= 1 else {
                throw Failure.usage("--from-apns-410 reads one file", hint: "cat joins several: cat a b | pushcrypt …")
            }
            return try removeUnregistered(file: ids.first ?? "-", console)
        }
        if let user, !ids.isEmpty {
            throw Failure.usage("--user removes all devices of \(quoted(user))", hint: "leave the IDs out, or --user")
        }
        guard user != nil || !ids.isEmpty else {
            throw Failure.usage("ID is missing", hint: "usage: pushcrypt device remove [options] ID ...")
        }
        let store = try console.open(store)
        let now = console.timestamp
        var (ids, removed, unknown): ([String], Int, [String]) = (ids, 0, [])
        if let user {
            for device in try store.devices(ofUser: user) {
                switch device {
                case .success(let device): ids.append(device.id)
                case .failure(let error): console.error("\(error.code): \(error)")
                }
            }
        }
        for id in ids {
            // A row that cannot be read is removed too.
            let device = try? store.device(id: id)
            let wasThere = try store.removeDevice(id: id, reason: reason, at: now)
            if wasThere {
                removed += 1
                console.changed("removed", device, id)
            } else {
                unknown.append(id)
            }
        }
        for id in unknown { console.error("there is no device \(quoted(id))") }
        if let user, removed == 0 { console.error("user \(quoted(user)) has no device") }
        let isDone = unknown.isEmpty && removed == ids.count && removed > 0
        if !isDone { console.hint("pushcrypt device list shows them") }
        if isJSON { try console.report([("removed", removed), ("unknown", unknown.count)], asJSON: true) }
        return isDone ? .done : .refused
    }

    private func removeUnregistered(file: String, _ console: Console) throws -> ExitCode {
        let store = try console.open(store)
        let now = console.timestamp
        var lines = try NumberedLines(file, console)
        var result = DeviceRemovalResult()
        var grants = 0
        var ignored = 0
        try lines.forEach { line in
            let lost = try ProviderAnswer(line).lost
            if lost == nil { ignored += 1 }
            return lost
        } take: { items, _ in
            let devices = items.compactMap { if case .device(let lost) = $0.item { lost } else { nil } }
            let ended = items.compactMap { if case .grant(let ended) = $0.item { ended } else { nil } }
            result.add(try store.removeDevices(devices, at: now))
            grants += try store.endGrants(ended)
        }
        let counts = [
            ("removed", result.removed), ("kept", result.kept), ("unknown", result.unknown), ("ignored", ignored),
            ("refused", lines.refused),
        ]
        try console.report(counts + (grants == 0 ? [] : [("grants", grants)]), asJSON: isJSON)
        return lines.refused == 0 ? .done : .refused
    }
}

extension Command {
    static let devicePurge = Command(
        "purge", "forget that devices were removed",
        about: [
            "Keep removals while older data may be imported: otherwise an old backup brings the device back."
        ], examples: ["pushcrypt device purge --older-than 90d"]
    ) { a in
        // In seconds.
        let age = a.requiredSeconds(
            "--older-than", "TIME", 0...36_500 * 86_400, help: "the least age of a removal, such as 90d")
        let store = StoreArguments(&a)
        let isJSON = a.json()
        return { console in
            let store = try console.open(store)
            let (milliseconds, overflow) = UInt64(clamping: age).multipliedReportingOverflow(by: 1000)
            let end = console.timestamp.subtracting(milliseconds: overflow ? .max : milliseconds)
            let count = try store.forgetRemovedDevices(upTo: end)
            try console.report([("forgotten", count)], asJSON: isJSON)
            return .done
        }
    }
}

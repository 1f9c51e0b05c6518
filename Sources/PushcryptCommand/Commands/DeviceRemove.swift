internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceRemove = Command(
        "remove", "remove devices, and remember that they are gone",
        about: """
            Nothing is sealed for a removed device until 'device add' registers it again; older data does not bring it back.
            --from-apns-410 reads answers of APNs, one object per line: 'to' or 'device', 'token', 'status', 'reason' and 'timestamp'. The reason Unregistered or ExpiredToken removes the device, unless it has registered since or has another token now; another reason of status 410 is an error, and other answers are ignored. The forms of aioapns and node-apn are read too, with 'to' beside them. Answers through a relay have 'grant' instead of 'token'; a reason such as grant-revoked ends that grant but keeps the device; the reply to its next record says so. The same file may be read again.
            """,
        examples: [
            "pushcrypt device remove phone1",
            "pushcrypt device remove --user alice --reason 'account closed'",
            "pushcrypt device remove --from-apns-410 answers.ndjson",
        ]
    ) { a in
        let user = a.value("--user", "USER", help: "all devices of this user, instead of IDs")
        let readsAnswers = a.flag(
            "--from-apns-410", help: "remove devices that APNs reports as gone, from a file or standard input")
        let reason = a.value("--reason", "TEXT", help: "the reason, for people and logs")
        let (store, isJSON) = (StoreArguments(&a), a.json())
        a.atMostOne(of: "--from-apns-410", "--reason")
        a.atMostOne(of: "--from-apns-410", "--user")
        let ids = a.operands("ID", help: "the device; with --from-apns-410 the file of answers")
        return { console in
            if readsAnswers {
                guard ids.count <= 1 else {
                    throw Failure.usage(
                        "--from-apns-410 reads one file", hint: "cat joins several: cat a b | pushcrypt …")
                }
                return try console.removeUnregistered(file: ids.first ?? "-", from: store, asJSON: isJSON)
            }
            if let user, !ids.isEmpty {
                throw Failure.usage(
                    "--user removes all devices of \(quoted(user))", hint: "leave the IDs out, or --user")
            }
            guard user != nil || !ids.isEmpty else {
                throw Failure.usage("ID is missing", hint: "usage: pushcrypt device remove [options] ID ...")
            }
            let store = try console.open(store)
            let now = console.timestamp
            var (ids, removed, unknown): ([String], Int, [String]) = (ids, 0, [])
            for device in try user.map({ try store.devices(ofUser: $0) }) ?? [] {
                switch device {
                case .success(let device): ids.append(device.id)
                case .failure(let error): console.error("\(error.code): \(error)")
                }
            }
            for id in ids {
                // A row that cannot be read is removed too.
                let device = try? store.device(id: id)
                if try store.removeDevice(id: id, reason: reason, at: now) {
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
            if !isDone { throw ExitCode.refused }
        }
    }

    static let devicePurge = Command(
        "purge", "forget that devices were removed",
        about: "Keep removals while older data may be imported: otherwise an old backup brings the device back.",
        examples: ["pushcrypt device purge --older-than 90d"]
    ) { a in
        // In seconds.
        let age = a.requiredSeconds(
            "--older-than", "TIME", 0...36_500 * 86_400, help: "the least age of a removal, such as 90d")
        let (store, isJSON) = (StoreArguments(&a), a.json())
        return { console in
            let store = try console.open(store)
            let (milliseconds, overflow) = UInt64(clamping: age).multipliedReportingOverflow(by: 1000)
            let end = console.timestamp.subtracting(milliseconds: overflow ? .max : milliseconds)
            let count = try store.forgetRemovedDevices(upTo: end)
            try console.report([("forgotten", count)], asJSON: isJSON)
        }
    }
}

extension Console {
    fileprivate func removeUnregistered(file: String, from store: StoreArguments, asJSON: Bool) throws {
        let store = try open(store)
        let now = timestamp
        var lines = try NumberedLines(file, self)
        var result = DeviceRemovalResult()
        var (grants, ignored) = (0, 0)
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
        try report(counts + (grants == 0 ? [] : [("grants", grants)]), asJSON: asJSON)
        if lines.refused > 0 { throw ExitCode.refused }
    }
}

/// The answer of APNs to one push: `{"to","token","status","reason","timestamp"}`, with `to` or `device`; through a relay also
/// `grant`. Other clients' forms are read beside `to`: aioapns has `description`, node-apn `response`, and the token in `device`.
struct ProviderAnswer {
    /// The reasons of status 410, the second with any status, and how a store records them.
    private static let reasons = ["Unregistered": "unregistered", "ExpiredToken": "expired-token"]
    /// The reasons of status 410 with which a relay says that the grant has ended.
    private static let grantReasons: Set = ["grant-expired", "grant-revoked", "grant-unknown-key"]
    private static let gone: Int64 = 410
    /// The earliest valid time: before push notifications existed, and greater than any time in seconds.
    private static let earliest: Int64 = 1_000_000_000_000

    /// The device or the grant that is gone.
    enum Loss {
        /// The device, and when APNs noticed.
        case device(LostDevice)
        case grant(EndedGrant)
    }

    /// Nil for any other answer.
    let lost: Loss?

    init(_ line: ContiguousArray<UInt8>) throws {
        let root = try JSONValue(objectOf: line) { Self.malformed($0) }
        if root["status"] == nil, let error = root["error"] {
            guard error["code"]?.string != nil else {
                throw Self.malformed("its 'error' is not one of 'pushcrypt send'")
            }
            // APNs did not answer, as 'send' says.
            lost = nil
            return
        }
        let number = root["status"]
        guard let status = number?.integer ?? number?.string.flatMap({ Int64($0) }) else {
            throw Self.malformed("it has no 'status', a number")
        }
        let response = root["response"]
        let word = (root["reason"] ?? root["description"] ?? response?["reason"])?.string ?? ""
        let reason = status == Self.gone || word == "ExpiredToken" ? Self.reasons[word] : nil
        guard reason != nil || status == Self.gone && Self.grantReasons.contains(word) else {
            // APNs may have new reasons: the operator decides what they mean for the device.
            guard status != Self.gone else { throw Self.malformed("status 410 has the unknown reason \(quoted(word))") }
            lost = nil
            return
        }
        guard let id = (root["to"] ?? (response == nil ? root["device"] : nil))?.string else {
            throw Self.malformed("it has no 'to', the device")
        }
        do { try StoreName.check(id, "its 'to'") } catch { throw Self.malformed("\(error)") }
        let grant = root[PushAddress.grantName]?.string
        guard let reason else {
            guard let grant else { throw Self.malformed("it has no 'grant', the one that has ended") }
            lost = .grant(EndedGrant(id: id, grant: grant))
            return
        }
        guard let time = (root["timestamp"] ?? response?["timestamp"])?.integer, time >= Self.earliest else {
            throw Self.malformed("it has no 'timestamp', the milliseconds that APNs gives with a 410")
        }
        let removedAt = Timestamp(milliseconds: UInt64(clamping: time))
        // A time in another unit would be later than anything the device does from now on.
        guard removedAt <= .latestOfAClock else {
            throw Self.malformed("its 'timestamp' is after 2100: pass on APNs' milliseconds since 1970")
        }
        let token = (root["token"] ?? (response == nil ? nil : root["device"]))?.string?.lowercased()
        lost = .device(LostDevice(id: id, at: removedAt, reason: reason, token: token, grant: grant))
    }

    private static func malformed(_ what: String) -> Failure {
        .refused("\(LineCode.malformedLine): not a valid answer of APNs: \(what)")
    }
}

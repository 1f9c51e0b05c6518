package import Pushcrypt
package import PushcryptCommandKit
internal import PushcryptKeyStore

extension DoctorArguments {
    func check(_ console: Console) throws {
        if isSend {
            let stored = try login.options(from: login.settings(of: store, console), topic: topic == nil)
            throw runSendProgram(["doctor"] + stored + console.arguments(without: ["doctor"]))
        }
        var findings = [checkSodium(), checkClock(console.timestamp)] + checkMemory()
        do {
            let directory = try console.path(of: store)
            let store = try console.openQuietly(store)
            let found = store.check()
            findings += found
            // Damage is listed by now, and would be found once more.
            if !found.contains(where: { $0.severity == .error }) {
                findings += ExtensionDatabase.check(in: directory, at: console.timestamp)
                findings += try checkKeys(of: store, at: console.timestamp)
            }
        } catch {
            let error = Failure(error)
            findings.append(Finding(.error, ([error.message] + error.hints).joined(separator: "; ")))
        }
        try console.report(findings, isJSON: isJSON)
    }
}

extension Command {
    /// `doctor`, which both programs have.
    package static func doctor(_ run: @escaping @Sendable (DoctorArguments, Console) throws -> Void) -> Command {
        Command(
            "doctor", "find what is wrong, and say how to fix it",
            about: """
                Checks libsodium, the clock, lockable memory and the key store: files and permissions, the database, every row and every sealed secret. Changes nothing. Ends with 1 if something does not work.
                With --send, checks the way to APNs: key or certificate, name, proxy and TLS, the clock, and whether APNs accepts login and topic, with a device token that cannot exist.
                """,
            examples: [
                "pushcrypt --store /var/lib/pushcrypt doctor --json",
                "pushcrypt doctor --send --key AuthKey_ABC123DEFG.p8 --team TEAM123456",
            ]
        ) { a in
            let arguments = DoctorArguments(&a)
            return { try run(arguments, $0) }
        }
    }
}

/// The arguments of `doctor`, which both programs read.
package struct DoctorArguments: Sendable {
    package static let sendOption = "--send"

    let isSend: Bool
    let store: StoreArguments
    package let topic: String?
    package let login: SendLogin
    package let isJSON: Bool

    package init(_ arguments: inout Arguments) {
        isSend = arguments.flag(Self.sendOption, help: "check the way to APNs instead of the store")
        store = StoreArguments(&arguments)
        let names: [String]
        ((topic, login), names) = arguments.given { arguments in
            (arguments.value("--topic", "TOPIC", help: "the app that 'send' is to send for"), SendLogin(&arguments))
        }
        isJSON = arguments.json()
        for name in names { arguments.option(name, needs: Self.sendOption) }
    }
}

extension Console {
    /// Writes what was found. Exit 1 says that something is wrong.
    package func report(_ findings: [Finding], isJSON: Bool) throws {
        let findings = findings + warningsGivenOnce.map { Finding(.warning, $0) }
        try write(findings.map { isJSON ? $0.json : $0.line(self) }.joined())
        if findings.contains(where: { $0.severity == .error }) { throw ExitCode.failed }
    }
}

extension Finding {
    /// The severity as `doctor` prints it.
    private var shown: (level: String, style: TextStyle) {
        switch severity {
        case .note: ("ok", .green)
        case .warning: ("warning", .yellow)
        case .error: ("problem", .red)
        }
    }

    private var text: String { fix.isEmpty ? message : "\(message): \(fix)" }

    fileprivate func line(_ console: Console) -> String {
        let (level, style) = shown
        let padding = String(repeating: " ", count: 9 - level.count)
        return console.styled(level, style) + padding + sanitized(forTerminal: text) + "\n"
    }

    fileprivate var json: String {
        jsonLine { json in
            json.string(shown.level, for: "level")
            json.string(text, for: "text")
        }
    }
}

extension [Finding] {
    fileprivate mutating func add(_ severity: Finding.Severity, _ message: String, fix: String = "") {
        append(Finding(severity, message, fix: fix))
    }
}

// MARK: Checks

/// Computes a known answer, so that a broken library or build is found here.
private func checkSodium() -> Finding {
    let digest = SHA256.digest(ContiguousArray("abc".utf8).span).hex
    guard digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" else {
        return Finding(.error, "libsodium \(Sodium.version) computes a wrong hash: reinstall it")
    }
    let suites =
        CipherSuite.xwing.isSupported
        ? "with suite 2 (post-quantum)" : "without suite 2 (post-quantum), which needs 1.0.22"
    return Finding(.note, "libsodium \(Sodium.version), \(suites)")
}

private func checkClock(_ now: Timestamp) -> Finding {
    // 2026-01-01: no correct clock shows an earlier time.
    let built = Timestamp(milliseconds: 1_767_225_600_000)
    guard now > built, now < .maximum else {
        return Finding(
            .error, "the clock shows \(now): set it, or messages are refused as expired or as from the future")
    }
    return Finding(.note, "the clock shows \(now)")
}

private func checkMemory() -> [Finding] {
    guard let lockable = lockableMemory(), lockable < 1 << 16 else { return [] }
    return [
        Finding(
            .warning, "only \(lockable) bytes of memory can be kept from swapping: raise 'ulimit -l' to 64 or more")
    ]
}

// MARK: Keys and devices

/// How long before its end a certificate is warned of: long enough to bring a provider key that is offline.
private let expiryNotice = Interval.days(45)

/// The age of a signing key at which its rotation seems to be forgotten.
private let signingAge = Interval.days(100)

func checkKeys(of store: SQLiteKeyStore, at now: Timestamp) throws -> [Finding] {
    let (accounts, providers, count) = (try store.state().accounts, try store.providerKeys(), try store.deviceCount())
    let devices = accounts.flatMap { account in account.keys.map { check($0, of: account, at: now) } }
    var findings = devices + providers.flatMap { check($0, at: now) }
    if !devices.isEmpty, accounts.allSatisfy(\.pins.isEmpty) {
        findings.add(.warning, "no provider is trusted, so nothing opens: 'provider pin FILE'")
    }
    findings += try checkDevices(of: store)
    if !providers.isEmpty { findings.add(.note, "\(count) device\(count == 1 ? "" : "s") to seal for") }
    if devices.isEmpty, providers.isEmpty {
        findings.add(
            .warning, "the store has no key: 'key new provider' (on a server) or 'key new device' (on a phone)")
    }
    return findings
}

private func check(_ key: DeviceState.Key, of account: DeviceState.Account, at now: Timestamp) -> Finding {
    let name = "device key \(key.keyID) of \(quoted(account.name))"
    if key.createdAt > now {
        return Finding(.warning, "\(name) is from the future (\(key.createdAt)): check the clock")
    } else if let end = key.retiresAt {
        return end < now
            ? Finding(.warning, "\(name) has retired: destroy it with 'key rotate --purge'")
            : Finding(.note, "\(name) is retiring, and opens until \(end)")
    } else if key.state == .pending {
        return Finding(.warning, "\(name) is pending: register it, then 'key rotate --confirm'")
    }
    return Finding(.note, "\(name) is \(key.state)")
}

/// Returns a warning if the clock is more than a day behind the time at which the last certificate was issued.
func clockWarning(issuedAt time: Timestamp?, at now: Timestamp) -> String? {
    guard let time, now.adding(Freshness.clockTolerance) < time else { return nil }
    return "the clock shows \(now), but the key in use dates from \(time): this clock is behind, or was ahead then"
}

/// Where the secret of a provider key is, until when its certificate is good, and whether another store certifies too.
private func check(_ key: ProviderKeyRecord, at now: Timestamp) -> [Finding] {
    let name = "provider key \(key.keyID) of \(quoted(key.name))"
    var findings = [
        key.isOffline
            ? Finding(.note, "\(name) is offline, and signs at epoch \(key.epoch) since \(key.signsSince)")
            : Finding(
                .warning, "\(name) lies in this store: anyone who copies the store can certify other keys for ever",
                fix: "before you have users, 'key offline' moves it out")
    ]
    if let text = clockWarning(issuedAt: key.signsSince, at: now) { findings.add(.warning, text) }
    if key.signsSince.adding(signingAge) < now {
        findings.add(
            .warning, "\(name) signs with the same signing key since \(key.signsSince)",
            fix: "rotate with 'key rotate', best from a timer")
    }
    if let end = key.certificate?.expiresAt {
        let fix = "rotate with 'key rotate'" + (key.isOffline ? " --request" : "")
        if end <= now {
            findings.add(.error, "the certificate of \(name) has expired, at \(end): phones open nothing", fix: fix)
        } else if end <= now.adding(expiryNotice) {
            findings.add(.warning, "the certificate of \(name) expires at \(end)", fix: fix)
        }
    }
    if let warning = key.warning { findings.add(.error, "\(warning.code): \(warning)") }
    return findings
}

/// Finds devices that pin a provider key which the store does not have, devices that this build cannot seal to, and devices that
/// a store with a push key cannot send to.
private func checkDevices(of store: SQLiteKeyStore) throws -> [Finding] {
    var foreign = try ForeignProviders(of: store)
    var (unsupported, ungranted) = (0, 0)
    let needsGrants = try store.hasPushKey()
    try store.forEachDevice {
        if case .success(let device) = $0 {
            foreign.add(device.id, pinning: device.pinnedProvider)
            if !device.publicKey.suite.isSupported { unsupported += 1 }
            if needsGrants, device.grant == nil, device.token == nil { ungranted += 1 }
        }
    }
    var findings: [Finding] = []
    if foreign.count > 0 {
        findings.add(.warning, foreign.text, fix: "see A foreign key in Docs/Devices.md")
    }
    if ungranted > 0 {
        let devices = ungranted == 1 ? "1 device has" : "\(ungranted) devices have"
        findings.add(
            .warning, "\(devices) no grant of a relay, so nothing can be sent to them",
            fix: "each phone's next record brings one; 'device list' shows '-' until then")
    }
    if unsupported > 0 {
        let devices =
            unsupported == 1 ? "1 device has a post-quantum key" : "\(unsupported) devices have post-quantum keys"
        findings.add(
            .error, "\(devices), which this libsodium (\(Sodium.version)) cannot seal to",
            fix: "run a build with libsodium 1.0.22 or later")
    }
    return findings
}

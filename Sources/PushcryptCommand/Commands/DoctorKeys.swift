internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

// What `doctor` says of the keys and devices of a store.

/// How long before its end a certificate is warned of: long enough to bring a provider key that is offline.
private let expiryNotice = Interval.days(45)

/// The age of a signing key at which its rotation seems to be forgotten.
private let signingAge = Interval.days(100)

func checkKeys(of store: SQLiteKeyStore, at now: Timestamp) throws -> [Finding] {
    let (accounts, providers, count) = (try store.state().accounts, try store.providerKeys(), try store.deviceCount())
    let devices = accounts.flatMap { account in account.keys.map { check($0, of: account, at: now) } }
    var findings = devices + providers.flatMap { check($0, at: now) }
    if !devices.isEmpty, accounts.allSatisfy(\.pins.isEmpty) {
        findings.append(Finding(.warning, "no provider is trusted, so nothing opens: 'provider pin FILE'"))
    }
    findings += try checkDevices(of: store)
    if !providers.isEmpty { findings.append(Finding(.note, "\(count) device\(count == 1 ? "" : "s") to seal for")) }
    if devices.isEmpty, providers.isEmpty {
        findings.append(
            Finding(.warning, "the store has no key: 'key new provider' (on a server) or 'key new device' (on a phone)")
        )
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

/// Returns what to say of a clock that is more than a day before the time at which the last certificate was issued.
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
    if let text = clockWarning(issuedAt: key.signsSince, at: now) { findings.append(Finding(.warning, text)) }
    if key.signsSince.adding(signingAge) < now {
        findings.append(
            Finding(
                .warning, "\(name) signs with the same signing key since \(key.signsSince)",
                fix: "rotate with 'key rotate', best from a timer"))
    }
    if let end = key.certificate?.expiresAt {
        let fix = "rotate with 'key rotate'" + (key.isOffline ? " --request" : "")
        if end <= now {
            findings.append(
                Finding(.error, "the certificate of \(name) has expired, at \(end): phones open nothing", fix: fix))
        } else if end <= now.adding(expiryNotice) {
            findings.append(Finding(.warning, "the certificate of \(name) expires at \(end)", fix: fix))
        }
    }
    if let warning = key.warning { findings.append(Finding(.error, "\(warning.code): \(warning)")) }
    return findings
}

/// Finds devices that pinned a provider key that the store never had (evidence of a false enrolment), devices that this build
/// cannot seal to, and devices that a store with a push key cannot send to.
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
        findings.append(Finding(.warning, foreign.text, fix: "see A foreign key in Docs/Devices.md"))
    }
    if ungranted > 0 {
        let devices = ungranted == 1 ? "1 device has" : "\(ungranted) devices have"
        findings.append(
            Finding(
                .warning, "\(devices) no grant of a relay, so nothing can be sent to them",
                fix: "each phone's next record brings one; 'device list' shows '-' until then"))
    }
    if unsupported > 0 {
        let devices =
            unsupported == 1 ? "1 device has a post-quantum key" : "\(unsupported) devices have post-quantum keys"
        findings.append(
            Finding(
                .error, "\(devices), which this libsodium (\(Sodium.version)) cannot seal to",
                fix: "run a build with libsodium 1.0.22 or later"))
    }
    return findings
}

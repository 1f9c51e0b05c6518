package import Pushcrypt
package import PushcryptCommandKit
internal import PushcryptKeyStore

extension DoctorArguments {
    func check(_ console: Console) throws -> ExitCode {
        if isSend {
            var words = console.arguments
            if let name = words.firstIndex(of: "doctor") { words.remove(at: name) }
            throw runSendProgram(
                ["doctor"] + (try login.stored(store, topic: topic == nil, console)) + words)
        }
        var findings = [checkSodium(), checkClock(console.timestamp)] + checkLimits()
        do {
            let directory = try console.path(of: store)
            findings += SQLiteKeyStore.check(filesIn: directory)
            let store = try console.openQuietly(store)
            let found = store.check()
            findings += found
            if !found.contains(where: { $0.severity == .error }) {
                findings += ExtensionDatabase.check(in: directory, at: console.timestamp)
            }
            // Damage is listed by now, and would be found once more.
            if !found.contains(where: { $0.severity == .error }) {
                findings += try checkKeys(of: store, at: console.timestamp)
            }
        } catch {
            let error = Failure(error)
            findings.append(Finding(.error, ([error.message] + error.hints).joined(separator: "; ")))
        }
        return try console.report(findings, isJSON: isJSON)
    }
}

extension Command {
    /// `doctor`, which both programs have.
    package static func doctor(_ run: @escaping @Sendable (DoctorArguments, Console) throws -> ExitCode) -> Command {
        Command(
            "doctor", "find what is wrong, and say how to fix it",
            about: [
                "Checks libsodium, the clock, the system's limits and the key store: files and permissions, the database, every row and every sealed secret. Changes nothing. Ends with 1 if something does not work.",
                "With --send, checks the way to APNs: key or certificate, name, proxy and TLS, the clock, and whether APNs accepts login and topic, with a device token that cannot exist.",
            ],
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
        topic = arguments.value("--topic", "TOPIC", help: "the app that 'send' is to send for")
        login = SendLogin(&arguments)
        isJSON = arguments.json()
        for name in ["--topic"] + SendLogin.names { arguments.option(name, needs: Self.sendOption) }
    }
}

extension Console {
    /// Writes what was found; returns whether nothing is wrong.
    package func report(_ findings: [Finding], isJSON: Bool) throws -> ExitCode {
        var output = OutputBuffer(self)
        let findings = findings + warningsGivenOnce.map { Finding(.warning, $0) }
        for finding in findings { try output.append(isJSON ? finding.json : finding.line(self)) }
        try output.flush()
        return findings.contains { $0.severity == .error } ? .failed : .done
    }
}

extension Finding {
    /// The severity as `doctor` prints it.
    fileprivate var level: String {
        switch severity {
        case .note: "ok"
        case .warning: "warning"
        case .error: "problem"
        }
    }

    fileprivate var text: String { fix.isEmpty ? message : "\(message): \(fix)" }

    fileprivate func line(_ console: Console) -> String {
        let style: TextStyle =
            switch severity {
            case .note: .green
            case .warning: .yellow
            case .error: .red
            }
        let padding = String(repeating: " ", count: 9 - level.count)
        return console.styled(level, style) + padding + sanitized(forTerminal: text) + "\n"
    }

    fileprivate var json: String {
        var json = JSONWriter()
        json.object { json in
            json.string(level, for: "level")
            json.string(text, for: "text")
        }
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
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

private func checkLimits() -> [Finding] {
    var findings: [Finding] = []
    if let lockable = ProcessLimits.lockableMemory, lockable < 1 << 16 {
        findings.append(
            Finding(
                .warning, "only \(lockable) bytes of memory can be kept from swapping: raise 'ulimit -l' to 64 or more")
        )
    }
    if ProcessLimits.writesCoreDumps {
        findings.append(Finding(.warning, "core dumps are on: a crash could write secrets to the disk"))
    } else {
        findings.append(Finding(.note, "no core dumps, so a crash writes no secret"))
    }
    return findings
}

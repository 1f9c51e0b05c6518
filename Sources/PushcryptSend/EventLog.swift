internal import COpenSSL
internal import PushcryptCommand
internal import PushcryptCommandKit

/// What `send` writes to standard error: outages, and with `--log` a line for each event, up to a limit.
struct EventLog {
    /// The lines of `--log` in a second; the others are counted.
    static let limit = 200

    private let console: Console
    private let isOn: Bool
    private var second: UInt64 = 0
    private var written = 0
    private var left = 0

    init(_ console: Console, isOn: Bool) {
        self.console = console
        self.isOn = isOn
    }

    /// The first eight hexadecimal digits of a device token's SHA-256: the log has no address that APNs would take.
    static func fingerprint(of token: String) -> String {
        var digest = ContiguousArray<UInt8>(repeating: 0, count: 32)
        var text = Array(token.lowercased().utf8)
        let isMade = unsafe digest.withUnsafeMutableBufferPointer { digest in
            unsafe EVP_Digest(&text, text.count, digest.baseAddress, nil, EVP_sha256(), nil)
        }
        guard isMade == 1 else { return "-" }
        return digest.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Writes an event of `--log`.
    mutating func add(_ event: String, _ fields: [MessageFormat.Field], at now: Moment) {
        guard isOn else { return }
        if now.uptime / 1000 != second {
            if left > 0 { console.log("left-out", [("time", .number(Int(now.wall))), ("lines", .number(left))]) }
            (second, written, left) = (now.uptime / 1000, 0, 0)
        }
        guard written < Self.limit else {
            left += 1
            return
        }
        written += 1
        console.log(event, [("time", .number(Int(now.wall)))] + fields)
    }

    /// Says that an outage has begun, goes on or has ended.
    func say(_ line: Outages.Line, of host: String, isJSON: Bool) {
        let seconds = Int(line.duration / 1000)
        guard !isJSON else {
            return console.log(
                "outage",
                [
                    ("time", .number(Int(console.now()))), ("phase", .word(line.phase.rawValue)),
                    ("kind", .word(line.trouble.kind.rawValue)), ("host", .word(host)),
                    ("topic", .word(line.trouble.subject)), ("seconds", .number(seconds)),
                    ("attempts", .number(line.attempts)), ("waiting", .number(line.waiting)),
                    ("message", .word(line.trouble.text)),
                ])
        }
        let what = line.trouble.sentence(host)
        switch line.phase {
        case .begins: console.warning("\(what); \(line.waiting) messages wait, and one is tried now and then")
        case .continues:
            console.warning("\(what), for \(seconds) s now; \(line.attempts) attempts, \(line.waiting) messages wait")
        case .ended: console.log("over after \(seconds) s and \(line.attempts) attempts: \(what)")
        }
    }
}

extension Trouble {
    fileprivate func sentence(_ host: String) -> String {
        switch kind {
        case .connection: "no connection to \(host): \(text)"
        case .busy: "\(host) is busy: \(text)"
        case .login: "the login to \(host): \(text)"
        case .topic: "topic \(subject): \(text)"
        case .clock: text
        }
    }
}

internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// The lines that `send` writes to standard error: outages, and with `--log` a line for each event.
struct EventLog {
    private let console: Console
    private let isOn: Bool

    init(_ console: Console, isOn: Bool) {
        self.console = console
        self.isOn = isOn
    }

    /// The fingerprint of what is sealed in a payload, or in a message for a relay, as the log of `seal` and the phone's journal
    /// have it; nil if nothing is.
    static func fingerprint(of message: ContiguousArray<UInt8>) -> String? {
        guard let root = try? JSONDocument(parsing: message).root else { return nil }
        let sealed = root[PayloadKeys.encryptedData] ?? root["data"]
        return sealed?.string.map { EnvelopeFingerprint(of: $0).description }
    }

    /// Writes an event of `--log`.
    func add(_ event: String, _ fields: @autoclosure () -> [MessageFormat.Field], at now: Moment) {
        if isOn { console.log(event, [("time", .number(Int(now.wall)))] + fields()) }
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
        case .begins where line.trouble.kind == .clock: console.warning(what)
        case .begins: console.warning("\(what); waiting: \(line.waiting); one message is tried now and then")
        case .continues:
            console.warning("\(what), for \(seconds) s now; attempts: \(line.attempts); waiting: \(line.waiting)")
        case .ended:
            console.log(sanitized(forTerminal: "ended after \(seconds) s, attempts: \(line.attempts): \(what)"))
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

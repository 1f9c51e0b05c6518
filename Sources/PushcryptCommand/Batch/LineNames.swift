package import Pushcrypt
package import PushcryptCommandKit

/// The names of the members of a line, for each command that reads lines.
package struct LineNames: Sendable {
    /// Those that are read, and not passed through.
    package let read: Set<String>
    /// Other members of the answer, or of a later command's answer, which a line must not have.
    package let added: Set<String>

    package init(read: Set<String>, added: Set<String>) {
        self.read = read
        self.added = added.union(["error", "line"]).subtracting(read)
    }

    /// Members that only the answer to a failed line has.
    static let ofFailures: Set = ["error", "line", "status", "reason", "timestamp", "retry", "reply"]

    // MARK: Commands

    static let open = LineNames(read: ["payload", "request_id"], added: ["notification"])
    static let answer = LineNames(read: ["answer"], added: ["opened"])
    static let register = LineNames(read: ["device", "user", "token", "environment", "record"], added: ["reply"])

    /// `send` reads what `seal` writes.
    package static let send = LineNames(
        read: PushRequest.memberNames.union(["to", "id", "token", "environment", "unencrypted", "apns_id"]),
        added: ["status", "reason", "timestamp", "retry", "dry_run"])
    package static let relay = LineNames(
        read: RelayMessage.memberNames.union(["to", "id", "grant"]),
        added: send.added.union(["apns_id", "grant_expires"]))

    /// - Parameters:
    ///   - hasFacts: Whether the answer has the facts of `--json`.
    ///   - hasFiles: Whether it may have that of `--overflow`.
    static func seal(_ emission: Emission, hasFacts: Bool, hasFiles: Bool) -> LineNames {
        var read: Set = [
            "to", "to_user", "payload", "topic", "sign_with", "id", "ttl", "placeholder", "push_type", "withdraw",
            "drop",
            "from_name", "answerable", "token", "environment",
        ]
        var added: Set = ["unencrypted", "shortened"]
        if hasFiles { added.insert("overflow") }
        if hasFacts {
            added.formUnion(["fingerprint", "message_id", "push_type", "bytes", "widest_bytes", "limit", "bucket"])
        }
        switch emission {
        case .payload, .apns: break
        case .request:
            read.formUnion(["collapse_id", "priority", "apns_id"])
            added.formUnion(send.added.union(PushRequest.memberNames))
        case .relay:
            read.formUnion(["collapse_id", "priority", "grant"])
            added.formUnion(relay.added.union(RelayMessage.memberNames))
        }
        return LineNames(read: read, added: added)
    }
}

/// How the lines of an input are read.
package struct LineForm: Sendable {
    enum Content: Sendable {
        case objects
        /// An id, a public key, or an object.
        case recipients
        /// The id of a device.
        case ids
    }

    let names: LineNames
    var content = Content.objects
    /// The longest line in bytes.
    var maximumLength = Line.maximumLength
    /// Warns of a likely mistake in a line; nil for no warnings.
    let warning: OnceWarning?

    package init(_ names: LineNames, _ warning: OnceWarning? = nil) { (self.names, self.warning) = (names, warning) }
}

/// The part of a sealed message that is written.
enum Emission: String, CaseIterable, Sendable {
    /// The payload to send.
    case payload
    /// The payload and the headers to send it with.
    case request
    /// The message for a publisher's relay: the sealed content and its headers.
    case relay
    /// A file for Apple's simulator: the payload and the app it is for.
    case apns

    /// Whether `send` reads it, so that the caller may choose headers.
    var isRequest: Bool { self == .request || self == .relay }
}

// MARK: Failures

/// A fault of a line itself, as a code for programs.
package enum LineCode: String, CaseIterable, CustomStringConvertible, Sendable {
    /// Not an object, or one with a wrong member.
    case malformedLine = "malformed-line"
    /// Longer than a line may be.
    case lineTooLong = "line-too-long"
    /// A member to pass through has the name of one of the answer's members.
    case reservedKey = "reserved-key"
    /// The user has no devices.
    case noDevice = "no-device"
    /// The device has no key to seal to.
    case noKey = "no-key"
    /// The line, the command line and the keys have no topic.
    case noTopic = "no-topic"
    /// The file of a long body cannot be written.
    case overflowFailed = "overflow-failed"

    package var description: String { rawValue }
}

extension Failure {
    /// A refused line, or the end of a command that works on one.
    package init(_ code: LineCode, _ reason: String, hints: [String] = []) {
        self.init(.usage, code: code.rawValue, reason: reason, "\(code): \(reason)", hints: hints)
    }

    package init(_ code: SendCode, _ reason: String) {
        self.init(.refused, code: code.rawValue, reason: reason, "\(code): \(reason)")
    }

    /// Writes the members `error` and `line`.
    package func write(line number: Int, to json: inout JSONWriter) {
        json.object(for: "error") { json in
            json.string(code, for: "code")
            json.string(SecretText.removed(from: reason), for: "message")
        }
        json.integer(number, for: "line")
    }

    /// Whether `write` wrote these members: the names alone do not suffice.
    static func isWritten(in members: [JSONMember]) -> Bool {
        guard let error = members.first(where: { $0.name == "error" })?.value.members,
            members.first(where: { $0.name == "line" })?.value.integer != nil
        else { return false }
        return error.map(\.name) == ["code", "message"] && error.allSatisfy { $0.value.kind == .string }
    }
}

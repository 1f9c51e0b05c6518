internal import Pushcrypt
internal import PushcryptCommandKit

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
            "drop", "from_name", "answerable", "token", "environment",
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

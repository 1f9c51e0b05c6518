internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let inspect = Command(
        "inspect", "show what the relay can read of a sealed payload",
        about:
            "Needs no key and shows no secret: of a push the clear fields, the sizes, and the envelope's header; of a certificate, its text or the file of 'key certify', what it says. Push type, epoch and certificate of a message are sealed: 'open --json' shows the last two.",
        examples: ["pushcrypt inspect sealed.json", "pushcrypt inspect certificate.json"]
    ) { a in
        let isJSON = a.json()
        let file = a.optionalInput(
            "FILE", help: "a sealed payload, an envelope or a certificate; default standard input")
        return { console in
            let input = try console.read(file, limit: ReceivedPush.maximumLength)
            if let certificate = try InspectedCertificate(input) {
                try console.write(isJSON ? certificate.json : certificate.text(console))
            } else {
                let inspection = try Inspection(input)
                try console.write(isJSON ? inspection.json(console) : inspection.text(console))
            }
        }
    }
}

/// The public facts of a sealed push.
private struct Inspection {
    private let push: ReceivedPush?
    private let envelope: Envelope
    private let pushLength: Int

    init(_ input: ContiguousArray<UInt8>) throws {
        let trimmed = input.last == UInt8(ascii: "\n") ? ContiguousArray(input.dropLast()) : input
        var push: ReceivedPush?
        do {
            if trimmed.contains(UInt8(ascii: "{")) { push = try ReceivedPush(trimmed) }
            envelope = if let push { try push.inspectedEnvelope() } else { try Envelope(inspecting: trimmed.span) }
        } catch {
            let hint = push?.fingerprint.map { "its fingerprint, as in the phone's journal, is \($0)" }
            throw Failure(error).advising(hint.map { [$0] } ?? [])
        }
        self.push = push
        pushLength = trimmed.count
    }

    func text(_ console: Console) -> String {
        let sizes = push.map {
            "\(pushLength) bytes, \($0.maximumReencodedLength) in the widest form; Apple takes 4096 (voip 5120)"
        }
        let suite = "\(envelope.suite.rawValue): \(envelope.suite.kem), HKDF-SHA256, ChaCha20-Poly1305 (HPKE base mode)"
        return console.columns([
            ("push", sizes),
            ("clear", push.map { push in String(decoding: jsonObject { write(push, to: &$0) }, as: UTF8.self) }),
            ("fingerprint", "\(envelope.fingerprint), as in the provider's log and the phone's journal"),
            ("envelope", "\(envelope.bytes.count) bytes, \(envelope.text.utf8.count) characters"),
            ("suite", "\(suite); Ed25519 inside"), ("recipient", "key \(envelope.recipientKeyID)"),
            ("enc", envelope.enc.hex),
            (
                "bucket",
                "\(envelope.innerLength) bytes: epoch, signature, push type, times, content and padding, sealed"
            ),
        ])
    }

    func json(_ console: Console) -> String {
        let json = jsonObject { json in
            if let push {
                json.integer(pushLength, for: "bytes")
                json.integer(push.maximumReencodedLength, for: "widest_bytes")
                json.object(for: "clear") { write(push, to: &$0) }
            }
            json.object(for: "envelope") { json in
                json.string(envelope.fingerprint.description, for: "fingerprint")
                json.integer(envelope.bytes.count, for: "bytes")
                json.integer(envelope.text.utf8.count, for: "characters")
                json.integer(envelope.suite.rawValue, for: "suite")
                json.string(envelope.recipientKeyID.description, for: "recipient_key_id")
                json.string(envelope.enc.hex, for: "enc")
                json.integer(envelope.innerLength, for: "bucket")
            }
        }
        return console.shown(json: json) + "\n"
    }

    /// Writes what the relay can read.
    private func write(_ push: ReceivedPush, to json: inout JSONWriter) {
        for (name, value) in push.root.members where name != PayloadKeys.encryptedData { json.raw(value, for: name) }
    }
}

/// A certificate, or one in the file of `key certify`.
private struct InspectedCertificate {
    private let certificate: Certificate
    private let signed: SignedCertificate?

    /// Returns nil for what is neither.
    init?(_ input: ContiguousArray<UInt8>) throws {
        let text = String(decoding: input.last == newline ? input.dropLast() : input[...], as: UTF8.self)
        if text.utf8.first == UInt8(ascii: "{") {
            guard let root = try? JSONDocument(parsing: input).root, root["certificate"] != nil, root["aps"] == nil
            else { return nil }
            signed = try SignedCertificate(json: input)
        } else {
            signed = nil
        }
        guard let certificate = signed?.certificate ?? Certificate(text) else { return nil }
        self.certificate = certificate
    }

    func text(_ console: Console) -> String {
        console.columns([
            ("app", signed?.topic.bundleID), ("provider", signed.map { "\($0.provider), which signed it" }),
            ("epoch", "\(certificate.epoch)"), ("signing key", certificate.signingKey.text),
            ("before", earlierKeys(floor: certificate.floor, graceUntil: certificate.graceUntil)),
            ("expires", certificate.expiresAt.map { "\($0)" } ?? "never"),
        ])
    }

    var json: String {
        jsonLine { json in
            if let signed {
                json.string(signed.topic.bundleID, for: "topic")
                json.string(signed.provider.description, for: "provider")
            }
            json.integer(certificate.epoch, for: "epoch")
            json.integer(certificate.floor, for: "floor")
            if let end = certificate.graceUntil { json.integer(end.milliseconds, for: "grace_until") }
            if let end = certificate.expiresAt { json.integer(end.milliseconds, for: "expires_at") }
            json.string(certificate.signingKey.text, for: "signing_key")
        }
    }
}

extension Console {
    /// The rows that have a value.
    fileprivate func columns(_ rows: [(name: String, value: String?)]) -> String {
        rows.map { name, value in
            let column = name + String(repeating: " ", count: max(0, 13 - name.count))
            return value.map { styled(column, .dim) + sanitized(forTerminal: $0) + "\n" } ?? ""
        }.joined()
    }
}

extension CipherSuite {
    fileprivate var kem: String {
        switch self {
        case .x25519: "X25519"
        case .xwing: "X-Wing (ML-KEM-768 and X25519, post-quantum)"
        }
    }
}

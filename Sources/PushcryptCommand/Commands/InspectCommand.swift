internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let inspect = Command(
        "inspect", "show what the relay can read of a sealed payload",
        about: [
            "Needs no key and shows no secret: of a push the clear fields, the sizes, and the envelope's header; of a certificate, its text or the file of 'key certify', what it says. Push type, epoch and certificate of a message are sealed: 'open --json' shows the last two."
        ],
        examples: ["pushcrypt inspect sealed.json", "pushcrypt inspect certificate.json"]
    ) { a in
        let isJSON = a.json()
        let file = a.optionalInput(
            "FILE", help: "a sealed payload, an envelope or a certificate; default standard input")
        return { console in
            let input = try console.read(file, limit: ReceivedPush.maximumLength)
            if let certificate = try InspectedCertificate(input) {
                try console.write(isJSON ? certificate.json : certificate.text(console))
                return .done
            }
            let inspection = try Inspection(input)
            try console.write(isJSON ? inspection.json(console) : inspection.text(console))
            return .done
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
        do throws(OpenError) {
            if trimmed.contains(UInt8(ascii: "{")) { push = try ReceivedPush(trimmed) }
            envelope = if let push { try push.inspectedEnvelope() } else { try Envelope(inspecting: trimmed.span) }
        } catch {
            let failure = Failure(error)
            let hint = push?.fingerprint.map { "its fingerprint, as in the phone's journal, is \($0)" }
            throw failure.advising(hint.map { [$0] } ?? [])
        }
        self.push = push
        pushLength = trimmed.count
    }

    private var rows: [(name: String, value: String)] {
        var rows: [(String, String)] = []
        if let push {
            rows.append(
                (
                    "push",
                    "\(pushLength) bytes, \(push.maximumReencodedLength) in the widest form; Apple takes 4096 (voip 5120)"
                ))
            rows.append(("clear", clearText(push)))
        }
        rows.append(("fingerprint", "\(envelope.fingerprint), as in the provider's log and the phone's journal"))
        rows.append(("envelope", "\(envelope.bytes.count) bytes, \(envelope.text.utf8.count) characters"))
        rows.append(
            (
                "suite",
                "\(envelope.suite.rawValue): \(envelope.suite.kem), HKDF-SHA256, ChaCha20-Poly1305 (HPKE base mode); Ed25519 inside"
            ))
        rows.append(("recipient", "key \(envelope.recipientKeyID)"))
        rows.append(("enc", envelope.enc.hex))
        rows.append(
            ("bucket", "\(envelope.innerLength) bytes: epoch, signature, push type, times, content and padding, sealed")
        )
        return rows
    }

    func text(_ console: Console) -> String { console.columns(rows) }

    func json(_ console: Console) -> String {
        var json = JSONWriter()
        json.object { json in
            if let push {
                json.integer(pushLength, for: "bytes")
                json.integer(push.maximumReencodedLength, for: "widest_bytes")
                json.object(for: "clear") { json in
                    for (name, value) in push.root.members where name != PayloadKeys.encryptedData {
                        json.raw(value, for: name)
                    }
                }
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
        return console.shown(json: json.bytes) + "\n"
    }

    private func clearText(_ push: ReceivedPush) -> String {
        var json = JSONWriter()
        json.object { json in
            for (name, value) in push.root.members where name != PayloadKeys.encryptedData {
                json.raw(value, for: name)
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
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
            else {
                return nil
            }
            signed = try SignedCertificate(json: input)
        } else {
            signed = nil
        }
        guard let certificate = signed?.certificate ?? Certificate(text) else { return nil }
        self.certificate = certificate
    }

    func text(_ console: Console) -> String {
        let checked =
            signed.map { [("app", $0.topic.bundleID), ("provider", "\($0.provider), which signed it")] } ?? []
        return console.columns(
            checked + [
                ("epoch", "\(certificate.epoch)"), ("signing key", certificate.signingKey.text),
                ("before", earlierKeys(floor: certificate.floor, graceUntil: certificate.graceUntil)),
                ("expires", certificate.expiresAt.map { "\($0)" } ?? "never"),
            ])
    }

    var json: String {
        var json = JSONWriter()
        json.object { json in
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
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }
}

extension Console {
    fileprivate func columns(_ rows: [(name: String, value: String)]) -> String {
        rows.map { row in
            let name = row.name + String(repeating: " ", count: max(0, 13 - row.name.count))
            return styled(name, .dim) + sanitized(forTerminal: row.value) + "\n"
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

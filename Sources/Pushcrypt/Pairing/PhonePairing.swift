/// A phone's side of a pairing: one request, and the reply to it.
///
/// Post `body` to the code's address, follow no redirect, and give the body of status 200 to `reply`. Status 404 means that the
/// server knows no such code, or none any more. After a lost reply post the same body again. (`Docs/FormatRecords.md`, Pairing)
package struct PhonePairing: Sendable {
    private let exchange: PairingExchange
    private let fingerprint: ContiguousArray<UInt8>
    private let topic: Topic
    private let record: ContiguousArray<UInt8>
    private let request: ContiguousArray<UInt8>

    /// - Parameters:
    ///   - code: What the user scanned, for an account and a host that the user has agreed to.
    ///   - registration: The account's record, with its device id.
    ///   - topic: The app.
    package init(_ code: PairingCode, _ registration: DeviceRegistration, topic: Topic) {
        precondition(registration.deviceID != nil, "a phone that pairs names itself")
        exchange = PairingExchange(
            code.secret, url: code.url.text, topic: topic, fingerprint: code.fingerprint)
        fingerprint = code.fingerprint
        self.topic = topic
        record = registration.json
        request = exchange.seal(record: record)
    }

    /// The body of the POST.
    package var body: ContiguousArray<UInt8> { PhonePost.pairing(request).body }

    /// Opens the server's reply, base64url of the sealed signed reply. What it says is then for the rules of every registration
    /// reply.
    ///
    /// - Parameters:
    ///   - text: The body of the answer.
    ///   - now: The present time.
    ///   - trust: Returns what the phone has learned of a provider key.
    /// - Throws: `badReply`; `wrongProvider` if it names another provider key than the code, or none. [P-8]
    package func reply(
        _ text: Span<UInt8>, at now: Timestamp, trust: (ProviderPublicKey) -> ProviderTrust? = newTrust
    ) throws(PairingError) -> RegistrationReply {
        let sealed = PairingText.decode(text)
        let body = sealed.flatMap { exchange.open(reply: $0.span, to: request.span) }
        return try Self.reply(in: body ?? [], to: record, of: fingerprint, for: topic, at: now, trust: trust)
    }

    /// The trust of a phone that has learned nothing of the provider yet.
    package static func newTrust(_ key: ProviderPublicKey) -> ProviderTrust? { ProviderTrust(pinned: [key]) }

    /// Reads a signed reply of the provider key that has the fingerprint.
    package static func reply(
        in body: ContiguousArray<UInt8>, to record: ContiguousArray<UInt8>, of fingerprint: ContiguousArray<UInt8>,
        for topic: Topic, at now: Timestamp, trust: (ProviderPublicKey) -> ProviderTrust? = newTrust
    ) throws(PairingError) -> RegistrationReply {
        guard let named = SignedReply.provider(in: body) else {
            throw PairingError(.badReply, "the reply was changed on its way, or is to another request: pair again")
        }
        guard let key = named, PairingCode.fingerprint(of: key) == fingerprint else {
            throw PairingError(.wrongProvider, "the reply names another provider key than the code: pair again")
        }
        guard let trust = trust(key),
            let reply = SignedReply.open(body, to: record, trusting: trust, for: topic, at: now)
        else {
            throw PairingError(.badReply, "the reply is not signed by the provider key that it names: pair again")
        }
        return reply
    }
}

/// The text in which requests and replies travel: base64url.
package enum PairingText {
    /// The longest text.
    package static let maximumLength = Base64URL.encodedLength(PairingExchange.maximumLength)

    /// Returns the bytes of a text, whose end may have a line break; nil if it is none, or too long.
    package static func decode(_ text: Span<UInt8>) -> ContiguousArray<UInt8>? {
        var end = text.count
        while end > 0, text[end - 1] == UInt8(ascii: "\n") || text[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        guard end > 0, end <= maximumLength else { return nil }
        return Base64URL.decode(text.extracting(0..<end))
    }

    /// Returns the text of bytes.
    package static func encode(_ bytes: ContiguousArray<UInt8>) -> String { Base64URL.string(bytes.span) }
}

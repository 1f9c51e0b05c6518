/// Where a publisher's relay is: `https://host` or `https://host:port`. (`Docs/Relay.md`, Requests)
///
/// For tests and networks of one's own also `http`, with the address of a private network or of this machine.
package struct RelayOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The text that requests sign, as browsers write it: lower case, without a default port or a slash at the end.
    package let description: String

    /// Creates an origin, however its host, its port and a slash at the end are written; returns nil for a text with a path, and
    /// for `http` outside a private network.
    package init?(_ text: String) {
        guard let address = WebAddress(text), address.isProtected, ["", "/"].contains(address.rest) else { return nil }
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        let port = address.port == (address.isSecure ? 443 : 80) ? nil : address.port
        let origin = "\(address.isSecure ? "https" : "http")://\(host)" + (port.map { ":\($0)" } ?? "")
        guard origin.utf8.count <= Self.maximumLength else { return nil }
        description = origin
    }

    private static let maximumLength = 255
}

/// A signed request to a relay: the headers and the body of a POST. (`Docs/Relay.md`, Push key)
package struct RelayRequest: Sendable {
    /// Where messages go.
    package static let path = "/v1/push"
    /// The most messages of a request.
    package static let mostMessages = 45
    /// The most bytes of a body. [R-2]
    package static let longestBody = 524_288

    private static let start = ContiguousArray("{\"messages\":[".utf8)
    private static let end = ContiguousArray("]}".utf8)

    /// The headers, in the order in which they are sent.
    package let headers: [(name: String, value: String)]
    /// The body, JSON.
    package let body: ContiguousArray<UInt8>

    /// Signs a request.
    ///
    /// - Parameters:
    ///   - messages: 1 to 45 JSON objects for `bodyLength` bytes.
    ///   - origin: The relay's, from the caller's own configuration.
    ///   - key: The push key that the grants name.
    ///   - now: The relay's present time, as far as the caller knows it.
    package init(
        _ messages: [ContiguousArray<UInt8>], to origin: RelayOrigin, signedBy key: PushKey, at now: Timestamp
    ) {
        precondition((1...Self.mostMessages).contains(messages.count), "a request has 1 to 45 messages")
        var body = Self.start
        body.reserveCapacity(Self.bodyLength(messages.lazy.map(\.count)))
        for (index, message) in messages.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body.append(contentsOf: message)
        }
        body.append(contentsOf: Self.end)
        self.init(body: body, for: Self.path, to: origin, signedBy: key, at: now)
    }

    init(
        body: ContiguousArray<UInt8>, for path: String, to origin: RelayOrigin, signedBy key: PushKey, at now: Timestamp
    ) {
        self.body = body
        let signature = key.signature(of: Self.signedText(origin, path, key.publicKey, body, at: now).span)
        headers = [
            ("Content-Type", "application/json"), ("Pushcrypt-Key", key.publicKey.text),
            ("Pushcrypt-Time", "\(now.milliseconds)"), ("Pushcrypt-Signature", Base64URL.string(signature.span)),
        ]
    }

    /// The length of a body with messages of these lengths.
    package static func bodyLength(_ messages: some Sequence<Int>) -> Int {
        messages.reduce(start.count + end.count) { $0 + $1 + 1 }
    }

    /// The text that a request signs.
    private static func signedText(
        _ origin: RelayOrigin, _ path: String, _ key: SigningPublicKey, _ body: ContiguousArray<UInt8>,
        at now: Timestamp
    ) -> ContiguousArray<UInt8> {
        var text = ContiguousArray<UInt8>()
        text.append("pushcrypt/1 relay request\0")
        for part in [origin.description, path] {
            text.append(bigEndian: UInt16(truncatingIfNeeded: part.utf8.count))
            text.append(contentsOf: part.utf8)
        }
        text.append(contentsOf: key.bytes)
        text.append(bigEndian: now.milliseconds)
        text.append(contentsOf: SHA256.digest(body.span))
        return text
    }
}

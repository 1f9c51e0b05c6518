/// Where APNs delivers to a phone: what a relay puts into a grant. Servers never see it.
package struct PushAddress: Hashable, Sendable {
    package let token: String
    package let environment: PushEnvironment
    package let topic: Topic

    /// Creates an address; returns nil for a token that is not 1 to 100 bytes.
    package init?(token: ContiguousArray<UInt8>, environment: PushEnvironment, topic: Topic) {
        guard DeviceRegistration.isToken(token.hex) else { return nil }
        self.token = token.hex
        self.environment = environment
        self.topic = topic
    }

    /// Distinguishes addresses, and does not reveal the token.
    package var digest: String {
        let text = ContiguousArray("\(environment.rawValue) \(topic.bundleID) \(token)".utf8)
        return ContiguousArray(SHA256.digest(text.span).prefix(16)).hex
    }
}

/// A phone's post to its app's relay. (`Docs/Relay.md`, Requests)
package struct PhoneRequest: Sendable {
    /// The phone's wish.
    package enum Wish: Hashable, Sendable {
        /// A grant for the server with this push key, to push to this address.
        case grant(SigningPublicKey, PushAddress, kinds: [String])
        /// The end of a grant.
        case end(String, secret: String)
        /// The end of all grants of the token until now, which needs one of them.
        case endAll(String, secret: String)
        /// A sealed answer, for the server that has the grant.
        case answer(String, grant: String, secret: String)
    }

    /// The length of a grant's secret, in bytes.
    private static let secretLength = 16
    /// The most bytes of an answer.
    package static let longestAnswer = 65_536

    package let url: String
    package let body: ContiguousArray<UInt8>
    private let isGrant: Bool

    /// - Parameter origin: The relay's, from the app; never from a record, a reply or a code.
    package init(_ wish: Wish, to origin: RelayOrigin) {
        var json = JSONWriter()
        json.object { json in
            switch wish {
            case .grant(let pushKey, let address, let kinds):
                json.string(address.token, for: "token")
                json.string(address.environment.rawValue, for: "environment")
                json.string(address.topic.bundleID, for: "topic")
                json.string(pushKey.text, for: "push_key")
                json.array(for: "kinds") { json in for kind in kinds { json.string(kind) } }
            case .end(let grant, let secret):
                json.string(grant, for: "grant")
                json.string(secret, for: "secret")
            case .endAll(let grant, let secret):
                json.string(grant, for: "grant")
                json.string(secret, for: "secret")
                json.bool(true, for: "all")
            case .answer(let text, let grant, let secret):
                json.string(grant, for: "grant")
                json.string(secret, for: "secret")
                json.string(text, for: "answer")
            }
        }
        body = json.bytes
        isGrant = if case .grant = wish { true } else { false }
        let path =
            switch wish {
            case .grant: "/v1/grants"
            case .end, .endAll: "/v1/revoke"
            case .answer: "/v1/answers"
            }
        url = origin.description + path
    }

    /// The relay's answer.
    package enum Answer: Hashable, Sendable {
        /// A grant, 1 to 1,024 characters of base64url; its secret, 22; and its end.
        case granted(String, secret: String, until: Timestamp)
        /// The grants have ended, or the relay has the answer.
        case ended
        /// The relay refuses, and nothing has changed. A temporary refusal may be repeated, after a time if it says one.
        case refused(code: String, isTemporary: Bool, retryAfter: Interval?)
        /// It is not what a relay answers.
        case unreadable(String)
    }

    /// Reads the answer to this request.
    ///
    /// - Parameters:
    ///   - status: The HTTP status; of a redirect, which nobody follows, its own.
    ///   - retryAfter: The value of `Retry-After`.
    ///   - body: The body, read to at most `longestAnswer`.
    package func answer(status: Int, retryAfter: String?, body: ContiguousArray<UInt8>) -> Answer {
        let root = try? JSONDocument(parsing: body, maximumBytes: Self.longestAnswer).root
        guard let root, root.kind == .object else {
            return .unreadable("status \(status), and no JSON object")
        }
        if status != 200 {
            guard status >= 400, let code = root["code"]?.string, (1...64).contains(code.utf8.count),
                code.utf8.allSatisfy(\.isOfCode)
            else { return .unreadable("status \(status), and no code") }
            let seconds = retryAfter.flatMap { $0.utf8.allSatisfy(\.isDigit) ? UInt64($0) : nil }
            return .refused(
                code: code, isTemporary: status == 429 || status >= 500, retryAfter: seconds.map(Interval.seconds))
        }
        guard isGrant else { return .ended }
        guard let grant = root["grant"]?.string, DeviceRegistration.isGrant(grant),
            let secret = root["secret"]?.string, Base64URL.decode(Bytes(secret.utf8).span)?.count == Self.secretLength,
            let end = root["expires"]?.integer.flatMap(UInt64.init(exactly:))
        else { return .unreadable("status 200, and no grant") }
        return .granted(grant, secret: secret, until: Timestamp(milliseconds: end))
    }
}

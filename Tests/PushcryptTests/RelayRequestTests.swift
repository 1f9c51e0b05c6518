import Testing

@testable import Pushcrypt

/// Requests to a relay, compared with an independent implementation in Python. (`Docs/Relay.md`)
@Suite struct RelayRequestTests {
    /// The rest of the file is for the relay.
    struct File: Codable {
        struct Request: FormatVector {
            let name, seed, origin, path, body, pushKey, signature: String
            let time: UInt64
        }

        struct Grant: FormatVector {
            let name, relayKey, origin, environment, topic, token, pushKey, random, grant, secret: String
            let kinds: [String]
            let issued, expires: UInt64
        }

        struct RefusedGrant: FormatVector {
            let name, origin, grant, code: String
            let relayKeys: [String]
        }

        struct RefusedRequest: FormatVector {
            let name, origin, path, body, code: String
            let now: UInt64
            let headers: [String: String]
        }

        struct Message: FormatVector {
            let name, message: String
            let code: String?
        }

        struct Collapse: FormatVector {
            let name, pushKey, collapseID, apns: String
        }

        struct Answer: FormatVector {
            let name, answer, done: String
        }

        let requests: [Request]
        let grants: [Grant]
        let refusedGrants: [RefusedGrant]
        let refusedRequests: [RefusedRequest]
        let messages: [Message]
        let collapse: [Collapse]
        let answers: [Answer]

        static let own = Result { try FormatVectors.read("relay.json", as: File.self) }
    }

    @Test(.vectors("relay requests"), arguments: try File.own.get().requests)
    func aRequestIsSignedAsTheProtocolSays(_ one: File.Request) throws {
        let seed = try #require(Bytes(lowerCaseHex: one.seed))
        let key = try PushKey(seed: seed.span)
        let origin = try #require(RelayOrigin(one.origin))
        let request = RelayRequest(
            body: Bytes(one.body.utf8), for: one.path, to: origin, signedBy: key,
            at: Timestamp(milliseconds: one.time))
        #expect(
            request.headers.map(\.name) == ["Content-Type", "Pushcrypt-Key", "Pushcrypt-Time", "Pushcrypt-Signature"])
        #expect(request.headers.map(\.value) == ["application/json", one.pushKey, "\(one.time)", one.signature])
        #expect(request.body == Bytes(one.body.utf8))
    }

    /// [R-28]
    @Test(.vectors("relay answers"), arguments: try File.own.get().answers)
    func answersAreAcknowledgedByTheirHash(_ one: File.Answer) throws {
        let origin = try #require(RelayOrigin("https://push.example.com"))
        let request = RelayRequest(
            waiting: 25, done: [one.answer, "AQ"], to: origin, signedBy: PushKey(), at: Timestamp(milliseconds: 1))
        let body = String(decoding: request.body, as: UTF8.self)
        #expect(body == #"{"wait":25,"done":["\#(one.done)","QIAJoKC3oVnmSwqXeLf3TA"]}"#)
    }

    @Test func messagesStandInOrder() throws {
        let origin = try #require(RelayOrigin("https://push.example.com"))
        let messages = ["{\"grant\":\"a\"}", "{\"grant\":\"b\"}"].map { Bytes($0.utf8) }
        let request = RelayRequest(messages, to: origin, signedBy: PushKey(), at: Timestamp(milliseconds: 1))
        #expect(request.body == Bytes("{\"messages\":[{\"grant\":\"a\"},{\"grant\":\"b\"}]}".utf8))
        #expect(RelayRequest.bodyLength(messages.map(\.count)) == request.body.count + 1)
    }

    @Test(
        arguments: [
            ("https://push.example.com", "https://push.example.com"),
            ("https://push.example.com:8443", "https://push.example.com:8443"),
            ("http://127.0.0.1:8787", "http://127.0.0.1:8787"), ("http://192.168.1.20", "http://192.168.1.20"),
            ("http://[::1]:8787", "http://[::1]:8787"), ("http://localhost:8787", "http://localhost:8787"),
            ("https://push.example.com/", "https://push.example.com"),
            ("https://Push.Example.com:443/", "https://push.example.com"), ("http://127.0.0.1:80", "http://127.0.0.1"),
            ("https://push.example.com:08443", "https://push.example.com:8443"), ("https://push.example.com/v1", nil),
            ("https://push.example.com//", nil), ("http://push.example.com", nil), ("https://a@push.example.com", nil),
            ("http://relay.lan", nil), ("http://100.64.0.1", nil), ("https://push.example.com?x", nil),
            ("https://push.example.com/?x", nil), ("push.example.com", nil),
            ("", nil),
        ] as [(String, String?)])
    func anOriginIsSignedAsBrowsersWriteIt(_ text: String, _ origin: String?) {
        #expect(RelayOrigin(text)?.description == origin)
    }

    @Test func aPushKeyPrintsNothingSecret() throws {
        let key = PushKey()
        let seed = key.withSeed { $0.hex }
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!"\(key)\(String(reflecting: key))\(dumped)".contains(seed))
        let publicKey = key.publicKey.bytes
        let digest = SHA256.digest(publicKey.span)
        #expect(key.fingerprint.description == Bytes(digest.prefix(4)).hex)
    }

    @Test(arguments: KeyFormat.allCases)
    func aPushKeyComesBackFromTheFormatsOfOthers(_ format: KeyFormat) throws {
        let key = PushKey()
        let again = try key.withText(in: format) { (text) throws(KeyError) in try PushKey(text: text, format: format) }
        #expect(again.publicKey == key.publicKey)
    }

    // MARK: Phones

    private static let secret = "AAAAAAAAAAAAAAAAAAAAAA"

    @Test func aPhoneAsksAsThePageSays() throws {
        let origin = try #require(RelayOrigin("https://push.example.com"))
        let topic = try Topic("com.example.app")
        let address = try #require(PushAddress(token: [0x8F, 0x3A], environment: .development, topic: topic))
        let pushKey = PushKey().publicKey
        let revoked = #"{"grant":"Gr-4_nt","secret":"\#(Self.secret)""#
        let expected: [(PhoneRequest.Wish, String, String)] = [
            (
                .grant(pushKey, address, kinds: ["alert"]), "/v1/grants",
                #"{"token":"8f3a","environment":"development","topic":"com.example.app","push_key":"\#(pushKey.text)","kinds":["alert"]}"#
            ),
            (.end("Gr-4_nt", secret: Self.secret), "/v1/revoke", revoked + "}"),
            (.endAll("Gr-4_nt", secret: Self.secret), "/v1/revoke", revoked + #","all":true}"#),
        ]
        for (wish, path, body) in expected {
            let request = PhoneRequest(wish, to: origin)
            #expect(request.url == "https://push.example.com\(path)")
            #expect(String(decoding: request.body, as: UTF8.self) == body)
        }
        #expect(PushAddress(token: [], environment: .production, topic: topic) == nil)
        #expect(PushAddress(token: Bytes(repeating: 1, count: 101), environment: .production, topic: topic) == nil)
    }

    @Test(arguments: [
        (200, nil, #"{"grant":"Gr-4_nt","secret":"SECRET","expires":5,"more":[]}"#, "granted(Gr-4_nt, SECRET, 5)"),
        (429, "17", #"{"code":"too-many-requests"}"#, "too-many-requests, temporary, after 17"),
        (503, "Fri, 31 Dec 1999 23:59:59 GMT", #"{"code":"relay-unavailable"}"#, "relay-unavailable, temporary"),
        (500, "-1", #"{"code":"x"}"#, "x, temporary"),
        (400, "9", #"{"code":"unknown-topic"}"#, "unknown-topic, after 9"),
        (301, nil, #"{"code":"x"}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr4nt","expires":5}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr4nt","secret":"SECRE","expires":5}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr4nt","secret":"SECRET+","expires":5}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr 4nt","secret":"SECRET","expires":5}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr4nt","secret":"SECRET","expires":1e3}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr4nt","secret":"SECRET","expires":1.0}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr4nt","secret":"SECRET","expires":-0}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr4nt","secret":"SECRET","expires":-1}"#, "unreadable"),
        (200, nil, #"{"grant":"Gr4nt","secret":"SECRET","expires":5"#, "unreadable"),
        (400, nil, #"{"code":7}"#, "unreadable"),
        (400, nil, #"{"code":"\#(String(repeating: "a", count: 65))"}"#, "unreadable"),
    ])
    func whatARelayAnswersIsReadStrictly(
        _ status: Int, _ retryAfter: String?, _ body: String, _ expected: String
    ) throws {
        let origin = try #require(RelayOrigin("https://push.example.com"))
        let topic = try Topic("com.example.app")
        let address = try #require(PushAddress(token: [1], environment: .production, topic: topic))
        let request = PhoneRequest(.grant(PushKey().publicKey, address, kinds: ["alert"]), to: origin)
        let text: String
        let answer = body.replacing("SECRET", with: Self.secret)
        switch request.answer(status: status, retryAfter: retryAfter, body: Bytes(answer.utf8)) {
        case .granted(let grant, let secret, let end): text = "granted(\(grant), \(secret), \(end.milliseconds))"
        case .ended: text = "ended"
        case .refused(let code, let isTemporary, let wait):
            text = code + (isTemporary ? ", temporary" : "") + (wait.map { ", after \($0.seconds)" } ?? "")
        case .unreadable: text = "unreadable"
        }
        #expect(text == expected.replacing("SECRET", with: Self.secret))
    }
}

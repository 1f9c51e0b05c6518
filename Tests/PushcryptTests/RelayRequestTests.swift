import Testing

@testable import Pushcrypt

/// Requests to a relay, compared with an independent implementation in Python. (`Docs/Relay.md`)
@Suite struct RelayRequestTests {
    /// What the file has besides is the relay's.
    struct File: Codable {
        struct Request: FormatVector {
            let name, seed, origin, body, pushKey, signature: String
            let time: UInt64
        }

        struct Grant: FormatVector {
            let name, relayKey, origin, environment, topic, token, pushKey, random, grant: String
            let kinds: [String]
            let issued, expires: UInt64
        }

        struct RefusedGrant: FormatVector {
            let name, origin, grant, code: String
            let relayKeys: [String]
        }

        struct RefusedRequest: FormatVector {
            let name, origin, body, code: String
            let now: UInt64
            let headers: [String: String]
        }

        let requests: [Request]
        let grants: [Grant]
        let refusedGrants: [RefusedGrant]
        let refusedRequests: [RefusedRequest]

        static let own = Result { try FormatVectors.read("relay.json", as: File.self) }
    }

    @Test(.vectors("relay requests"), arguments: try File.own.get().requests)
    func aRequestIsSignedAsTheProtocolSays(_ one: File.Request) throws {
        let seed = try #require(Bytes(lowerCaseHex: one.seed))
        let key = try PushKey(seed: seed.span)
        let origin = try #require(RelayOrigin(one.origin))
        let request = RelayRequest(
            body: Bytes(one.body.utf8), to: origin, signedBy: key, at: Timestamp(milliseconds: one.time))
        #expect(
            request.headers.map(\.name) == ["Content-Type", "Pushcrypt-Key", "Pushcrypt-Time", "Pushcrypt-Signature"])
        #expect(request.headers.map(\.value) == ["application/json", one.pushKey, "\(one.time)", one.signature])
        #expect(request.body == Bytes(one.body.utf8))
    }

    @Test func messagesStandInOrder() throws {
        let origin = try #require(RelayOrigin("https://push.example.com"))
        let messages = ["{\"grant\":\"a\"}", "{\"grant\":\"b\"}"].map { Bytes($0.utf8) }
        let request = RelayRequest(messages, to: origin, signedBy: PushKey(), at: Timestamp(milliseconds: 1))
        #expect(request.body == Bytes("{\"messages\":[{\"grant\":\"a\"},{\"grant\":\"b\"}]}".utf8))
        #expect(RelayRequest.bodyLength(messages.map(\.count)) == request.body.count + 1)
        #expect(origin.pushURL == "https://push.example.com/v1/push")
    }

    @Test(arguments: [
        ("https://push.example.com", true), ("https://push.example.com:8443", true), ("http://127.0.0.1:8787", true),
        ("http://192.168.1.20", true), ("http://[::1]:8787", true), ("http://localhost:8787", true),
        ("https://push.example.com/", false), ("https://push.example.com/v1", false),
        ("https://Push.example.com", false),
        ("https://push.example.com:443", false), ("http://127.0.0.1:80", false), ("http://push.example.com", false),
        ("https://a@push.example.com", false), ("https://push.example.com?x", false), ("push.example.com", false),
        ("https://push.example.com:08443", false), ("HTTPS://push.example.com", false), ("", false),
    ])
    func anOriginIsAsBrowsersWriteIt(_ text: String, _ isOne: Bool) {
        #expect((RelayOrigin(text) != nil) == isOne)
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
}

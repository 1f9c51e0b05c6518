import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The bytes of a provider's state: one form, and nothing else is read.
struct ProviderStateFormTests {
    private static let signingKey = TestProvider.signingKey(0)
    private static let waiting = TestProvider.signingKey(1)
    private static let other = ProviderKey()
    private static let device = DeviceKey()
    private static let push = PushKey()
    private static let pairing = PairingSecret()
    private static let (first, second) = (AnswerSecret(), AnswerSecret())
    private static let key = OneProvider.key
    private static let certificates = Result {
        let provider = try TestProvider()
        return try [7, 9, 12].map { try provider.certificate($0, floor: 3) }
    }

    /// In the order of the form: of the first key its own, of the second the signing key, the waiting one and the answer secrets.
    private static let secrets = [
        other.seed, bytes(of: signingKey), bytes(of: waiting), first.withBytes { Bytes(copying: $0) },
        second.withBytes { Bytes(copying: $0) }, push.withSeed { Bytes(copying: $0) },
        pairing.withSpan { Bytes(copying: $0) },
    ]

    private static func bytes(of key: SigningKey) -> Bytes { key.withSeed { Bytes(copying: $0) } }

    private static func text(_ bytes: Bytes) -> String { Base64URL.string(bytes.span) }

    /// A state as it is written, put together by hand.
    private static func json() throws -> String {
        let certificates = try certificates.get()
        let (one, two) = (text(other.publicKey.bytes), text(key.publicKey.bytes))
        return """
            {"keys":[{"name":"a","public_key":"\(one)","created":1},\
            {"name":"b","topic":"com.example.app","public_key":"\(two)","created":2,"offline":true,\
            "signing":{"certificate":"\(certificates[1])","since":5},\
            "past":[{"replaced":3},{"certificate":"\(certificates[0])","replaced":4}],\
            "request":{"topic":"com.example.app","public_key":"\(waiting.publicKey.text)","stolen":true},\
            "proven":"\(certificates[2])","answers":[{"created":6,"replaced":7},{"created":8}]}],"default":"b",\
            "push_key":{"public_key":"\(push.publicKey.text)","created":9},\
            "pairings":[{"id":"\(text(pairing.id))","url":"https://a.example/","topic":"com.example.app",\
            "provider":"\(two)","user":"alice","replaces":"phone1","created":10,\
            "claim":{"time":11,"device":"phone1","key":"\(text(device.publicKey.bytes))",\
            "update_key":"\(signingKey.publicKey.text)"}}],\
            "settings":[{"name":"title","value":"T"},{"name":"topic","value":""}]}
            """
    }

    private static func bytes(_ json: String, _ secrets: [Bytes] = secrets) -> Bytes {
        [1, 0, 0, 0, UInt8(secrets.count)] + secrets.map { [UInt8($0.count)] + $0 }.joined() + Bytes(json.utf8)
    }

    private func parse(_ bytes: Bytes) throws -> ProviderState {
        let span = bytes.span
        return try ProviderState(parsing: span)
    }

    private func written(_ state: ProviderState) -> Bytes { state.form.bytes().withSpan { Bytes(copying: $0) } }

    @Test func aStateHasTheseBytes() throws {
        let bytes = Self.bytes(try Self.json())
        let state = try parse(bytes)
        #expect(written(state) == bytes && state.secrets.count == 7)
        #expect(throws: Never.self) { try state.check() }
        let (a, b) = (try state.key("a"), try state.key(nil))
        #expect(a.name == "a" && a.topic == nil && a.signing == nil && a.createdAt.milliseconds == 1)
        #expect(try a.providerKey().seed == Self.other.seed)
        #expect(b.name == "b" && b.topic?.bundleID == "com.example.app" && b.publicKey == Self.key.publicKey)
        let certificates = try Self.certificates.get()
        #expect(try b.credential()?.key.publicKey == Self.signingKey.publicKey && b.certificate == certificates[1])
        #expect(b.past.map(\.certificate) == [nil, certificates[0]] && b.proven == certificates[2])
        #expect(b.past.map(\.replacedAt.milliseconds) == [3, 4] && b.signing?.since.milliseconds == 5)
        #expect(try b.request?.signingKey().publicKey == Self.waiting.publicKey && b.request?.kind == .stolen)
        #expect(b.answers.map(\.createdAt.milliseconds) == [6, 8])
        #expect(b.answers.map(\.replacedAt?.milliseconds) == [7, nil])
        #expect(code { try b.providerKey() } == .providerOffline)
        #expect(try state.push?.pushKey().publicKey == Self.push.publicKey)
        let pairing = try #require(state.pairings.first)
        #expect(pairing.id == Self.pairing.id && pairing.user == "alice" && pairing.replaces == "phone1")
        #expect(pairing.claim?.key == Self.device.publicKey && pairing.claim?.time.milliseconds == 11)
        #expect(state.settings == ["title": "T", "topic": ""])
        #expect(written(ProviderState()) == Self.bytes("{}", []))
    }

    /// One thing wrong in each, by replacing a piece of a state that is right.
    private static let faults: [(String, String)] = [
        (#""name":"a""#, #""name":"""#), (#""name":"a""#, #""name":"a\n""#), (#""name":"a""#, #""name":"b""#),
        (#""name":"a""#, #""name":"c""#), (#""name":"a","#, ""), (#""name":"b""#, #""name":7"#),
        (#""default":"b""#, #""default":"c""#), (#""default":"b""#, #""default":1"#),
        (text(other.publicKey.bytes), text(key.publicKey.bytes)),
        (text(other.publicKey.bytes), String(text(other.publicKey.bytes).dropLast())),
        (text(other.publicKey.bytes), "+"), (#""created":1"#, #""created":-1"#), (#""created":1"#, #""created":"1""#),
        (#""created":1"#, #""created":1,"offline":true"#), (#""offline":true"#, #""offline":1"#),
        (#","offline":true"#, ""), (#""topic":"com.example.app","public_key":""#, #""public_key":""#),
        (#""topic":"com.example.app","public_key":""#, #""topic":"a b","public_key":""#),
        (#""certificate":""#, #""certificate":"AAAA"#), (#""since":5"#, #""since":null"#), (#","since":5"#, ""),
        (#""signing":{"#, #""signing":[],"s":{"#), (#""signing":{"#, #""signings":{"#),
        (#"{"replaced":3},"#, #"{"replaced":3},{"replaced":3},"#), (#"{"replaced":3}"#, #"{}"#),
        (#""stolen":true"#, #""stolen":"yes""#), (#""request":{"#, #""requests":{"#),
        (#""proven":""#, #""proven":"A"#), (#"{"created":8}"#, #"{"created":8},{"created":8}"#),
        (#"{"created":6,"replaced":7}"#, #"{"created":6}"#), (#""answers":["#, #""answers":{},"a":["#),
        (#""push_key":{"#, #""push_keys":{"#), (#""id":""#, #""id":"+"#), (#""id":""#, #""ids":""#),
        (#""url":"#, #""uri":"#), (#""user":"alice""#, #""user":1"#), (#""time":11"#, #""time":1.5"#),
        (#""device":"phone1""#, #""device":1"#), (#""update_key":""#, #""update_key":"A"#),
        (#""update_key""#, #""former_key""#), (#"{"name":"title","value":"T"}"#, #"{"name":"topic","value":"T"}"#),
        (#","value":"T""#, ""), (#""value":"T""#, #""value":1"#),
    ]

    @Test func impossibleStatesAreNotRead() throws {
        let json = try Self.json()
        for (good, bad) in Self.faults {
            let pieces = json.split(separator: good, maxSplits: 1, omittingEmptySubsequences: false)
            try #require(pieces.count == 2, "\(good)")
            #expect(code { try parse(Self.bytes("\(pieces[0])\(bad)\(pieces[1])")) } == .corruptStore, "\(good) \(bad)")
        }
        let pieces = json.split(separator: "\"pairings\":[").flatMap { $0.split(separator: "],\"settings\"") }
        try #require(pieces.count == 3)
        let pairings = "\(pieces[0])\"pairings\":[\(pieces[1]),\(pieces[1])],\"settings\"\(pieces[2])"
        let twice = Self.bytes(pairings, Self.secrets + [Self.secrets[6]])
        #expect(code { try parse(twice) } == .corruptStore, "one id twice")
    }

    @Test func secretsAreAsManyAsTheStateNames() throws {
        let (json, secrets) = (try Self.json(), Self.secrets)
        for wrong in [[], Array(secrets.dropLast()), secrets + [secrets[0]]] as [[Bytes]] {
            #expect(code { try parse(Self.bytes(json, wrong)) } == .corruptStore)
        }
        #expect(code { try parse(Self.bytes("{}", secrets)) } == .corruptStore)
    }

    @Test func aStateShowsNoSecret() throws {
        let state = try parse(Self.bytes(try Self.json()))
        var text = "\(state) \(String(reflecting: state))"
        dump(state, to: &text)
        #expect(text.contains("com.example.app"))
        for secret in Self.secrets {
            for form in [secret.hex, Self.text(secret), "\(secret.dropFirst().prefix(3).map { $0 })"] {
                #expect(!text.contains(form))
            }
        }
    }
}

extension ProviderState {
    /// The state that is read from the bytes of this one.
    func readBack() throws -> ProviderState {
        try form.bytes().withSpan { (form) throws(KeyStoreError) in try ProviderState(parsing: form) }
    }
}

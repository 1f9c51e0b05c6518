import Testing

@testable import Pushcrypt

/// A phone and a server that pair by a code, compared with an independent implementation in Python.
/// (`Docs/FormatRecords.md`, Pairing)
@Suite struct PairingTests {
    struct File: Codable {
        struct Pairing: FormatVector {
            let name, secret, url, topic: String
            let providerSeed: Hex
            @OrNull var signingSeed: Hex?
            let provider, code, id, salt, record, request, post, replyRecord, signedReply, reply: String
        }

        struct Refused: FormatVector {
            let name, secret, url, topic, provider, request, reply: String
            let requestOpens: Bool
        }

        struct Belief: FormatVector {
            let name, topic: String
            let now: UInt64
            let fingerprint: Hex
            let record, signedReply: String
            let believed: Bool
        }

        struct Address: FormatVector {
            let name, url: String
            let accepted: Bool
        }

        let pairings: [Pairing]
        let refused: [Refused]
        let beliefs: [Belief]
        let urls: [Address]

        static let own = Result { try FormatVectors.read("pairing.json", as: File.self) }
    }

    private static func bytes(_ text: String) throws -> Bytes {
        let bytes = Base64URL.decode(ContiguousArray(text.utf8).span)
        return try #require(bytes)
    }

    private static func exchange(
        _ secret: String, _ url: String, _ topic: String, _ provider: String
    ) throws -> PairingExchange {
        let bytes = try #require(Bytes(lowerCaseHex: secret))
        let secret = PairingSecret(bytes.span)
        return PairingExchange(
            try #require(secret), url: url, topic: try Topic(topic),
            fingerprint: PairingCode.fingerprint(of: try ProviderPublicKey(text: provider)))
    }

    @Test(.vectors("pairings"), arguments: try File.own.get().pairings)
    func codesRequestsAndRepliesAreAsTheFormatSays(_ one: File.Pairing) throws {
        let code = try PairingCode(text: ContiguousArray(one.code.utf8).span)
        #expect(code.withText { String(decoding: ContiguousArray(copying: $0), as: UTF8.self) } == one.code)
        #expect(code.secret.withSpan { $0.hex } == one.secret && code.secret.id.hex == one.id)
        #expect(code.url.text == one.url)
        #expect(code.fingerprint == PairingCode.fingerprint(of: try ProviderPublicKey(text: one.provider)))
        let exchange = try Self.exchange(one.secret, one.url, one.topic, one.provider)
        let salt = try #require(Bytes(lowerCaseHex: one.salt))
        let request = exchange.seal(record: Bytes(one.record.utf8), salt: salt)
        #expect(PairingText.encode(request) == one.request)
        #expect(PairingExchange.id(ofRequest: request.span)?.hex == one.id)
        #expect(exchange.open(request: request.span) == Bytes(one.record.utf8))
        #expect(PhonePost.pairing(request).body == Bytes(one.post.utf8))
        let read = try PhonePost(json: Bytes(one.post.utf8), over: .open)
        guard case .pairing(request) = read else { throw FormatVectors.Failure("\(read)") }
        let reply = exchange.seal(reply: Bytes(one.signedReply.utf8), to: request.span)
        #expect(PairingText.encode(reply) == one.reply)
        #expect(exchange.open(reply: reply.span, to: request.span) == Bytes(one.signedReply.utf8))
    }

    /// [P-7]
    @Test(.vectors("replies to pairings"), arguments: try File.own.get().pairings)
    func repliesAreSignedAsTheFormatSays(_ one: File.Pairing) throws {
        let record = try RegistrationReply(json: Bytes(one.replyRecord.utf8))
        let provider = try ProviderKey(seed: one.providerSeed.bytes.span)
        var signer = EnvelopeSigner(provider)
        if let seed = one.signingSeed {
            let key = try SigningKey(seed: seed.bytes.span)
            let certificate = try #require(record.certificate)
            signer = EnvelopeSigner(verified: certificate, key, by: provider.publicKey, for: try Topic(one.topic))
        }
        let body = SignedReply.body(record, to: Bytes(one.record.utf8), by: signer, for: try Topic(one.topic))
        let fingerprint = PairingCode.fingerprint(of: provider.publicKey)
        let believed = try PhonePairing.reply(
            in: body, to: Bytes(one.record.utf8), of: fingerprint, for: Topic(one.topic), at: FormatFixture.now)
        #expect(believed == record)
        // The order of the members is free.
        if record.json == Bytes(one.replyRecord.utf8) { #expect(body == Bytes(one.signedReply.utf8)) }
    }

    /// [P-8]
    @Test(.vectors("beliefs in replies to pairings"), arguments: try File.own.get().beliefs)
    func aPhoneBelievesTheCodesProviderAlone(_ one: File.Belief) throws {
        let reply = try? PhonePairing.reply(
            in: Bytes(one.signedReply.utf8), to: Bytes(one.record.utf8), of: one.fingerprint.bytes,
            for: Topic(one.topic), at: Timestamp(milliseconds: one.now))
        #expect((reply != nil) == one.believed)
    }

    @Test(.vectors("refused pairings"), arguments: try File.own.get().refused)
    func whatIsOfAnotherPairingOpensNot(_ one: File.Refused) throws {
        let exchange = try Self.exchange(one.secret, one.url, one.topic, one.provider)
        let request = try Self.bytes(one.request)
        #expect((exchange.open(request: request.span) != nil) == one.requestOpens)
        let reply = try Self.bytes(one.reply)
        #expect(exchange.open(reply: reply.span, to: request.span) == nil)
    }

    @Test func shortAndLongTextsOpenNot() throws {
        let one = try File.own.get().pairings[0]
        let exchange = try Self.exchange(one.secret, one.url, one.topic, one.provider)
        let request = try Self.bytes(one.request)
        for length in [0, 1, 8, 23, 24, 25, 39] {
            #expect(exchange.open(request: Bytes(request.prefix(length)).span) == nil)
            #expect(exchange.open(reply: Bytes(request.prefix(length)).span, to: request.span) == nil)
        }
        let long = exchange.seal(record: Bytes(repeating: 0x20, count: PairingExchange.maximumLength))
        #expect(exchange.open(request: long.span) == nil && PairingExchange.id(ofRequest: long.span) == nil)
        #expect(PairingText.decode(Bytes("".utf8).span) == nil && PairingText.decode(Bytes("\n".utf8).span) == nil)
        #expect(PairingText.decode(Bytes("QQ\r\n".utf8).span) == Bytes("A".utf8))
        #expect(PairingText.decode(Bytes(repeating: 0x41, count: PairingText.maximumLength + 1).span) == nil)
    }

    // MARK: Codes

    @Test(arguments: [
        "", "pushcrypt:1?", "pushcrypt:2?ATwg3IhoEGVOVOZaWf3oPt9fGb4ig7Y_IfIkBBoE1SAB&https://home.example.net/pair",
        "pushcrypt:1?ATwg3IhoEGVOVOZaWf3oPt9fGb4ig7Y_IfIkBBoE1SAB",
        "pushcrypt:1?ATwg3IhoEGVOVOZaWf3oPt9fGb4ig7Y_IfIkBBoE1SAB&",
        "pushcrypt:1?ATwg3IhoEGVOVOZaWf3oPt9fGb4ig7Y_IfIkBBoE1SAB?https://home.example.net/pair",
        "pushcrypt:1?Ajwg3IhoEGVOVOZaWf3oPt9fGb4ig7Y_IfIkBBoE1SAB&https://home.example.net/pair",
        "pushcrypt:1?ATwg3IhoEGVOVOZaWf3oPt9fGb4ig7Y/IfIkBBoE1SAB&https://home.example.net/pair",
        "pushcrypt:1?ATwg3IhoEGVOVOZaWf3oPt9fGb4ig7Y_IfIkBBoE1SA&https://home.example.net/pair",
    ])
    func whatIsNoCodeIsRefused(_ text: String) {
        #expect(throws: PairingError.self) { try PairingCode(text: ContiguousArray(text.utf8).span) }
    }

    /// [P-2]
    @Test(.vectors("addresses of codes"), arguments: try File.own.get().urls)
    func aPhonePostsOnlyWhereNobodyReadsAlong(_ one: File.Address) {
        let code = try? PairingCode(url: one.url, provider: ProviderKey().publicKey)
        #expect((code != nil) == one.accepted)
    }

    /// Two records under one key and nonce would reveal each other, and let others forge a reply.
    @Test func twoRepliesToOneRequestHaveTwoKeys() throws {
        let one = try File.own.get().pairings[0]
        let exchange = try Self.exchange(one.secret, one.url, one.topic, one.provider)
        let request = try Self.bytes(one.request)
        let replies = ["{\"a\":1}", "{\"a\":2}"].map { exchange.seal(reply: Bytes($0.utf8), to: request.span) }
        #expect(replies[0].prefix(16) != replies[1].prefix(16))
        #expect(zip(replies[0], replies[1]).dropFirst(16).prefix(7).contains { ($0 ^ $1) & 0xFC != 0 })
    }

    // MARK: The phone

    private func pairing(_ provider: ProviderPublicKey) throws -> (PhonePairing, PairingExchange, DeviceKey) {
        let code = try PairingCode(url: "https://home.example.net/pair", provider: provider)
        let key = try DeviceKey(.x25519)
        let topic = try Topic("com.example.app")
        let record = DeviceRegistration(deviceID: "phone", publicKey: key.publicKey, createdAt: nil)
        return (
            PhonePairing(code, record, topic: topic),
            PairingExchange(code.secret, url: code.url.text, topic: topic, fingerprint: code.fingerprint), key
        )
    }

    private func read(_ reply: RegistrationReply, by provider: ProviderKey) throws -> RegistrationReply {
        let (phone, server, _) = try pairing(provider.publicKey)
        let request = try request(of: phone)
        let opened = server.open(request: request.span)
        let record = try #require(opened)
        let signed = SignedReply.body(reply, to: record, by: EnvelopeSigner(provider), for: try FormatFixture.app)
        return try phone.reply(
            Bytes(PairingText.encode(server.seal(reply: signed, to: request.span)).utf8).span, at: FormatFixture.now)
    }

    private func request(of phone: PhonePairing) throws -> Bytes {
        guard case .pairing(let request) = try PhonePost(json: phone.body, over: .open) else { return [] }
        return request
    }

    @Test func aPhoneReadsTheReplyOfTheCodesProvider() throws {
        let (provider, key) = (ProviderKey(), try DeviceKey(.x25519).publicKey)
        let reply = RegistrationReply(.acknowledged(key), provider: provider.publicKey)
        #expect(try read(reply, by: provider) == reply)
        let used = RegistrationReply(.refused(.pairingUsed), provider: provider.publicKey)
        #expect(try read(used, by: provider) == used)
    }

    /// [P-8]
    @Test func aPhoneRefusesAnotherProvidersReply() throws {
        let (provider, key) = (ProviderKey(), try DeviceKey(.x25519).publicKey)
        for reply in [
            RegistrationReply(.acknowledged(key), provider: ProviderKey().publicKey),
            RegistrationReply(.acknowledged(key)), RegistrationReply(.refused(.pairingUsed)),
            RegistrationReply(.refused(.pairingUsed), provider: ProviderKey().publicKey),
        ] {
            let error = #expect(throws: PairingError.self) { try read(reply, by: provider) }
            #expect(error?.code == .wrongProvider)
        }
    }

    @Test func aPhoneRefusesWhatIsNoReply() throws {
        let provider = ProviderKey().publicKey
        let (phone, server, key) = try pairing(provider)
        let request = try request(of: phone)
        let unsigned = RegistrationReply(.acknowledged(key.publicKey), provider: provider).json
        let sealed = [Bytes("x".utf8), unsigned].map {
            Bytes(PairingText.encode(server.seal(reply: $0, to: request.span)).utf8)
        }
        for text in [[], Bytes("AAAA".utf8), Bytes("{}".utf8), phone.body] + sealed {
            let error = #expect(throws: PairingError.self) { try phone.reply(text.span, at: FormatFixture.now) }
            #expect(error?.code == .badReply)
        }
    }
}

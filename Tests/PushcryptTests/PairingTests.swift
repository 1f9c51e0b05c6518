import Testing

@testable import Pushcrypt

/// A phone and a server that pair by a code, compared with an independent implementation in Python.
/// (`Docs/FormatPairing.md`)
@Suite struct PairingTests {
    struct File: Codable {
        struct Pairing: FormatVector {
            let name, secret, url, topic, provider, code, id, salt, record, request, replyRecord, reply: String
        }

        struct Refused: FormatVector {
            let name, secret, url, topic, provider, request, reply: String
            let requestOpens: Bool
        }

        struct Address: FormatVector {
            let name, url: String
            let accepted: Bool
        }

        let pairings: [Pairing]
        let refused: [Refused]
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
        let reply = exchange.seal(reply: Bytes(one.replyRecord.utf8), to: request.span)
        #expect(PairingText.encode(reply) == one.reply)
        #expect(exchange.open(reply: reply.span, to: request.span) == Bytes(one.replyRecord.utf8))
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

    private func read(_ reply: RegistrationReply, by provider: ProviderPublicKey) throws -> RegistrationReply {
        let (phone, server, _) = try pairing(provider)
        let request = try Self.bytes(phone.body)
        let sealed = server.seal(reply: reply.json, to: request.span)
        return try phone.reply(ContiguousArray(PairingText.encode(sealed).utf8).span)
    }

    @Test func aPhoneReadsTheReplyOfTheCodesProvider() throws {
        let (provider, key) = (ProviderKey().publicKey, try DeviceKey(.x25519).publicKey)
        let reply = RegistrationReply(.acknowledged(key), provider: provider)
        #expect(try read(reply, by: provider) == reply)
        let used = RegistrationReply(.refused(.pairingUsed))
        #expect(try read(used, by: provider) == used)
    }

    /// [P-8]
    @Test func aPhoneRefusesAnotherProvidersReply() throws {
        let (provider, key) = (ProviderKey().publicKey, try DeviceKey(.x25519).publicKey)
        for reply in [
            RegistrationReply(.acknowledged(key), provider: ProviderKey().publicKey),
            RegistrationReply(.acknowledged(key)),
            RegistrationReply(.refused(.pairingUsed), provider: ProviderKey().publicKey),
        ] {
            let error = #expect(throws: PairingError.self) { try read(reply, by: provider) }
            #expect(error?.code == .wrongProvider)
        }
    }

    @Test func aPhoneRefusesWhatIsNoReply() throws {
        let (phone, server, _) = try pairing(ProviderKey().publicKey)
        let request = try Self.bytes(phone.body)
        let notJSON = PairingText.encode(server.seal(reply: Bytes("x".utf8), to: request.span))
        for text in ["", "AAAA", "{}", phone.body, notJSON] {
            let error = #expect(throws: PairingError.self) { try phone.reply(ContiguousArray(text.utf8).span) }
            #expect(error?.code == .badReply)
        }
    }
}

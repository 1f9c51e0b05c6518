import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The server's side of a pairing by a code. (`Docs/FormatRecords.md`, P-3 to P-9)
struct PairingStoreTests {
    private static let minute: UInt64 = 60
    private let home: Home
    private let provider: ProviderPublicKey
    private var store: SQLiteKeyStore { home.store }

    init() throws {
        home = try Home(.memory)
        provider = try home.store.generateProviderKey(topic: .app, at: start).publicKey
    }

    private func code(user: String? = nil, replacing device: String? = nil) throws -> PairingCode {
        let code = try PairingCode(url: "https://home.example.net/pair", provider: provider)
        try store.addPairing(code, topic: .app, provider: provider, user: user, replacing: device, at: start)
        return code
    }

    private func registration(_ id: String = "phone1", _ change: (inout DeviceRegistration) -> Void = { _ in })
        throws -> DeviceRegistration
    {
        var registration = DeviceRegistration(
            deviceID: id, publicKey: try DeviceKey(.x25519).publicKey, topic: try .app, createdAt: start)
        (registration.updateKey, registration.sequence) = (SigningKey().publicKey, start.milliseconds)
        registration.nonce = RecordNonce()
        change(&registration)
        return registration
    }

    private struct Answer {
        let event: PostAnswer.Event
        let reply: RegistrationReply
        let body: Bytes
    }

    /// Sends a request; nil for an answer of 404.
    private func ask(_ phone: PhonePairing, at now: Timestamp = start) throws -> Answer? {
        guard let answer = try store.accept(phone.body, at: now) else { return nil }
        return Answer(event: answer.event, reply: try phone.reply(answer.body.span, at: now), body: answer.body)
    }

    /// Sends bytes as a request.
    private func ask(_ request: Bytes, _ store: SQLiteKeyStore, at now: Timestamp = start) throws -> PostAnswer? {
        try store.accept(.pairing(request), ReplyTerms(), at: now)
    }

    private func phone(_ code: PairingCode, _ registration: DeviceRegistration) throws -> PhonePairing {
        PhonePairing(code, registration, topic: try .app)
    }

    private func refusal(_ answer: Answer?) -> String? {
        guard case .refused(let refusal)? = answer?.reply.verdict else { return nil }
        return refusal.description
    }

    // MARK: Pairing

    @Test func aPhoneIsStoredAndToldTheKeys() throws {
        let pushKey = try store.addPushKey(at: start)
        try store.rotateSigningKey(at: start)
        let certificate = try #require(try store.providerKey().certificate)
        let registration = try registration { ($0.token, $0.grant) = ("8f3a", "grant") }
        let answer = try #require(try ask(phone(code(user: "alice"), registration)))
        guard case .paired("phone1", .added) = answer.event else {
            Issue.record("not paired")
            return
        }
        #expect(answer.reply.verdict == .acknowledged(registration.publicKey))
        #expect(answer.reply.provider == provider && answer.reply.certificate == certificate)
        #expect(answer.reply.pushKey == pushKey.publicKey)
        let device = try #require(try store.device(id: "phone1"))
        #expect(device.user == "alice" && device.publicKey == registration.publicKey && device.grant == "grant")
        #expect(try device.topic == .app && device.token == "8f3a")
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    @Test func aCodeIsOfOneServerAppAndAddress() throws {
        let (code, record) = (try code(), try registration())
        let other = try PairingCode(code.secret, url: "https://home.example.net/other", provider: provider)
        #expect(try ask(phone(other, record)) == nil)
        #expect(try ask(PhonePairing(code, record, topic: .other)) == nil)
        #expect(try ask(phone(PairingCode(url: code.url.text, provider: provider), record)) == nil)
        #expect(try ask([], store) == nil)
        #expect(try ask(code.secret.id + Bytes(repeating: 0, count: 60), store) == nil)
        #expect(try store.deviceCount() == 0)
        #expect(try ask(phone(code, record)) != nil)
    }

    /// [P-3]
    @Test func aCodeEndsAfterTenMinutes() throws {
        let (code, record) = (try code(), try registration())
        #expect(try ask(phone(code, record), at: start + 10 * Self.minute) == nil)
        #expect(try store.deviceCount() == 0)
        let late = start + (10 * Self.minute - 1)
        #expect(try ask(phone(code, record), at: late) != nil)
    }

    /// A code that was made while the clock was ahead is not good until then.
    @Test func aCodeOfAClockThatWasAheadHasEnded() throws {
        let (code, record) = (try code(), try registration())
        #expect(try ask(phone(code, record), at: start.subtracting(.minutes(10))) != nil)
        let other = try self.code()
        #expect(try ask(phone(other, registration("phone2")), at: start.subtracting(.minutes(11))) == nil)
    }

    /// [P-6]
    @Test func thePhoneThatLostTheReplyGetsItAgain() throws {
        let (code, record) = (try code(), try registration())
        let first = try phone(code, record)
        let answer = try #require(try ask(first, at: start + 9 * Self.minute))
        let same = try #require(try ask(first, at: start + 18 * Self.minute))
        #expect(same.body == answer.body)
        // Another request of the same phone: other bytes, the same record.
        let again = try #require(try ask(phone(code, record), at: start + 18 * Self.minute))
        #expect(again.reply == answer.reply && again.body != answer.body)
        guard case .repeated("phone1") = again.event else {
            Issue.record("not repeated")
            return
        }
        #expect(try ask(first, at: start + 19 * Self.minute) == nil)
    }

    /// A phone that could read the reply only after a theft believes no replaced signing key.
    @Test func theReplyIsSignedAnewByTheKeysOfToday() throws {
        let (code, record) = (try code(), try registration())
        let first = try #require(try ask(phone(code, record)))
        let pushKey = try store.addPushKey(at: start)
        let certificate = try #require(try store.rotateSigningKey(stolen: true, anyway: true, at: start).certificate)
        let again = try #require(try ask(phone(code, record)))
        #expect(first.reply.certificate == nil && again.reply.certificate == certificate)
        #expect(again.reply.pushKey == pushKey.publicKey && again.reply.verdict == first.reply.verdict)
    }

    /// [P-7]
    @Test func aRefusalIsSignedToo() throws {
        try store.rotateSigningKey(at: start)
        let code = try code()
        _ = try ask(phone(code, registration()))
        let answer = try #require(try ask(phone(code, registration("phone2"))))
        #expect(refusal(answer) == "pairing-used" && answer.reply.provider == provider)
        #expect(try answer.reply.certificate == store.providerKey().certificate)
    }

    /// [P-6]
    @Test(arguments: [true, false])
    func anotherPhoneLearnsThatTheCodeIsUsed(_ hasSameID: Bool) throws {
        let code = try code()
        _ = try ask(phone(code, registration()))
        let other = try registration(hasSameID ? "phone1" : "phone2")
        let answer = try ask(phone(code, other))
        #expect(refusal(answer) == "pairing-used")
        #expect(try store.deviceCount() == 1 && store.device(id: "phone1")?.publicKey != other.publicKey)
    }

    /// A request that somebody has kept, or a phone with an older copy of its state, changes nothing. [P-6]
    @Test func aSecondRequestStoresNothing() throws {
        let code = try code(user: "alice")
        var record = try registration()
        _ = try ask(phone(code, record))
        let device = try store.device(id: "phone1")
        let other = try registration { $0.updateKey = record.updateKey }
        #expect(try refusal(ask(phone(code, other))) == "pairing-used", "another key of the same device")
        (record.grant, record.token, record.sequence) = ("grant", "8f3a", start.milliseconds + 1)
        _ = try ask(phone(code, record))
        #expect(try store.device(id: "phone1") == device)
        record.updateKey = SigningKey().publicKey
        #expect(try refusal(ask(phone(code, record))) == "pairing-used")
    }

    // MARK: Refusals

    /// [P-9]
    @Test func aStoredDeviceIsReplacedOnlyIfTheOperatorSaysSo() throws {
        let old = try registration { $0.generation = 9 }
        try store.addDevice(old, id: "phone1", owner: .user("alice"), at: start)
        for key in [old.publicKey, try DeviceKey(.x25519).publicKey] {
            let record = try registration { ($0.publicKey, $0.generation) = (key, 10) }
            #expect(try refusal(ask(phone(code(user: "alice"), record))) == "user-mismatch")
        }
        #expect(try store.device(id: "phone1")?.publicKey == old.publicKey)
        let new = try registration()
        #expect(try refusal(ask(phone(code(replacing: "phone1"), registration("phone2")))) == nil)
        #expect(try store.device(id: "phone1")?.publicKey == old.publicKey)
        #expect(try refusal(ask(phone(code(replacing: "phone1"), new))) == nil)
        #expect(try store.device(id: "phone1")?.publicKey == new.publicKey)
        #expect(try store.device(id: "phone1")?.updateKey == new.updateKey)
        #expect(KeyStoreTests.code { try code(replacing: "nobody") } == .unknownDevice)
    }

    @Test func aRefusedRecordLeavesTheCodeOpen() throws {
        let code = try code()
        let key = try registration("other")
        try store.addDevice(key, id: "other", at: start)
        #expect(try refusal(ask(phone(code, registration { $0.publicKey = key.publicKey }))) == "key-taken")
        #expect(try refusal(ask(phone(code, registration { $0.topic = try? .other }))) == "topic-mismatch")
        #expect(try refusal(ask(phone(code, registration { $0.generation = 2000 }))) == "generation-too-high")
        #expect(try refusal(ask(phone(code, registration()))) == nil)
    }

    @Test func onlyRecordsAreAccepted() throws {
        let code = try code()
        let exchange = PairingExchange(
            code.secret, url: code.url.text, topic: try .app, fingerprint: code.fingerprint)
        let lacking: [(inout DeviceRegistration) -> Void] = [
            { $0.deviceID = nil }, { $0.updateKey = nil }, { $0.sequence = nil }, { $0.nonce = nil },
        ]
        let records = try lacking.map { try registration("phone1", $0).json }
        for record in [Bytes("x".utf8), Bytes("{}".utf8)] + records {
            let request = exchange.seal(record: record)
            let answer = try #require(try ask(request, store))
            let sealed = PairingText.decode(answer.body.span) ?? []
            let body = exchange.open(reply: sealed.span, to: request.span)
            let reply = try PhonePairing.reply(in: body ?? [], to: record, of: code.fingerprint, for: .app, at: start)
            #expect(reply.verdict == .refused(.malformedRecord))
        }
        #expect(try store.deviceCount() == 0)
    }

    @Test func aForeignPinIsTold() throws {
        let record = try registration { $0.pinnedProvider = ProviderKey().publicKey }
        #expect(try ask(phone(code(), record))?.reply.foreign == [.provider])
        let own = try registration("phone2") { $0.pinnedProvider = provider }
        #expect(try ask(phone(code(), own))?.reply.foreign == [])
    }

    // MARK: The store

    @Test func theSecretIsInNoFile() throws {
        let home = try Home()
        let provider = try home.store.generateProviderKey(topic: .app, at: start).publicKey
        let code = try PairingCode(url: "https://home.example.net/pair", provider: provider)
        try home.store.addPairing(code, topic: .app, provider: provider, at: start)
        let secret = code.secret.withSpan { Bytes(copying: $0) }
        let sealed = try #require(try home.sealed())
        #expect(try !home.scratch.bytes().contains(secret) && home.holds(sealed))
        #expect(try home.store.provider().pairings.count == 1)
        // The next code takes the place of those that have ended.
        try home.store.addPairing(
            try PairingCode(url: "https://home.example.net/pair", provider: provider), topic: .app,
            provider: provider, at: start + 10 * Self.minute)
        #expect(try home.store.provider().pairings.count == 1 && !home.holds(sealed))
    }

    @Test func aCodeNamesAKeyOfThisStoreForItsApp() throws {
        let other = ProviderKey().publicKey
        let code = try PairingCode(url: "https://home.example.net/pair", provider: other)
        #expect(
            KeyStoreTests.code { try store.addPairing(code, topic: .app, provider: other, at: start) } == .unknownName)
        #expect(
            KeyStoreTests.code { try store.addPairing(code, topic: .other, provider: provider, at: start) }
                == .topicMismatch)
    }
}

import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The server's side of a pairing by a code. (`Docs/FormatPairing.md`, P-3 to P-9)
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
        change(&registration)
        return registration
    }

    private struct Answer {
        let outcome: PairingOutcome
        let reply: RegistrationReply
        let bytes: Bytes
    }

    /// Sends a request; nil for an answer of 404.
    private func ask(_ phone: PhonePairing, at now: Timestamp = start) throws -> Answer? {
        let request = try Self.bytes(of: phone)
        guard case .reply(let bytes, let outcome) = try store.acceptPairing(request, at: now) else { return nil }
        return Answer(
            outcome: outcome, reply: try phone.reply(Bytes(PairingText.encode(bytes).utf8).span), bytes: bytes)
    }

    private static func bytes(of phone: PhonePairing) throws -> Bytes {
        let body = Bytes(phone.body.utf8)
        let request = PairingText.decode(body.span)
        return try #require(request)
    }

    private func phone(_ code: PairingCode, _ registration: DeviceRegistration) throws -> PhonePairing {
        PhonePairing(code, registration, topic: try .app)
    }

    /// Another key, which no session without the user could register. [D-36]
    @Test func aPhoneThatShowsItsWithdrawalNeedsNoSession() throws {
        let shown = WithdrawalCapability()
        let first = try registration { $0.withdrawal = shown }
        _ = try store.addDevice(first, id: "phone1", owner: .user("alice"), at: start)
        let next = try registration { ($0.withdrawal, $0.generation, $0.grant) = (shown, 2, "abc") }
        #expect(try store.updateDevice(next, at: start + 1) == .updated)
        let device = try #require(try store.device(id: "phone1"))
        #expect(device.user == "alice" && device.publicKey == next.publicKey && device.grant == "abc")
        #expect(error { try store.updateDevice(first, at: start + 2) }?.code == .generationRollback)
        for wrong in [nil, WithdrawalCapability()] {
            let other = try registration { ($0.withdrawal, $0.generation) = (wrong, 3) }
            #expect(try store.updateDevice(other, at: start + 2) == nil)
        }
        #expect(try store.updateDevice(registration("phone2") { $0.withdrawal = shown }, at: start + 2) == nil)
        // Nor does a device that has none accept a record without one, or a removed device any.
        _ = try store.addDevice(registration("bare"), id: "bare", at: start)
        #expect(try store.updateDevice(registration("bare") { $0.withdrawal = shown }, at: start + 2) == nil)
        _ = try store.removeDevice(id: "phone1", at: start + 3)
        #expect(try store.updateDevice(next, at: start + 4) == nil)
        #expect(try store.deviceCount() == 1)
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
        guard case .paired("phone1", .added, let foreign) = answer.outcome else {
            Issue.record("not paired")
            return
        }
        #expect(foreign.isEmpty)
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
        #expect(try store.acceptPairing([], at: start).isUnknown)
        #expect(try store.acceptPairing(code.secret.id + Bytes(repeating: 0, count: 60), at: start).isUnknown)
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

    /// A removed device is its user's: a code for nobody brings no other key of it back. [D-15]
    @Test func aCodeForNobodyMakesNobodyAFormerUser() throws {
        let first = try registration()
        _ = try ask(phone(code(user: "alice"), first))
        try store.removeDevice(id: "phone1", at: start + 1)
        let stranger = try registration("phone1") { $0.generation = 2 }
        #expect(try refusal(ask(phone(code(), stranger), at: start + 2)) == "user-mismatch")
        #expect(try store.deviceCount() == 0)
        #expect(try refusal(ask(phone(code(user: "alice"), stranger), at: start + 2)) == nil)
    }

    /// [P-6]
    @Test func thePhoneThatLostTheReplyGetsItAgain() throws {
        let (code, record) = (try code(), try registration())
        let first = try phone(code, record)
        let answer = try #require(try ask(first, at: start + 9 * Self.minute))
        let same = try #require(try ask(first, at: start + 18 * Self.minute))
        #expect(same.bytes == answer.bytes)
        // Another request of the same phone: other bytes, the same record.
        let again = try #require(try ask(phone(code, record), at: start + 18 * Self.minute))
        #expect(again.reply == answer.reply && again.bytes != answer.bytes)
        guard case .repeated("phone1") = again.outcome else {
            Issue.record("not repeated")
            return
        }
        #expect(try ask(first, at: start + 19 * Self.minute) == nil)
    }

    @Test func theReplyIsTheStoredOneWhateverHasChanged() throws {
        let (code, record) = (try code(), try registration())
        let answer = try #require(try ask(phone(code, record)))
        _ = try store.addPushKey(at: start)
        #expect(try ask(phone(code, record))?.reply == answer.reply)
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

    @Test func aSecondRequestBringsTheGrant() throws {
        let code = try code(user: "alice")
        var record = try registration()
        _ = try ask(phone(code, record))
        record.grant = "grant"
        _ = try ask(phone(code, record))
        #expect(try store.device(id: "phone1")?.grant == "grant")
    }

    @Test func aSecondRequestBringsNoRemovedDeviceBack() throws {
        let code = try code()
        let record = try registration()
        _ = try ask(phone(code, record))
        try store.removeDevice(id: "phone1", at: start + 1)
        #expect(try ask(phone(code, record), at: start + 2) != nil)
        #expect(try store.device(id: "phone1") == nil)
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

    @Test func whatIsNoRecordIsRefused() throws {
        let code = try code()
        let exchange = PairingExchange(
            code.secret, url: code.url.text, topic: try .app, fingerprint: code.fingerprint)
        for text in ["x", "{}", "{\"public_key\":\"\(try registration().publicKey)\"}"] {
            let request = exchange.seal(record: Bytes(text.utf8))
            guard case .reply(let reply, .refused(let refusal)) = try store.acceptPairing(request, at: start) else {
                Issue.record("\(text) was not refused")
                continue
            }
            #expect(refusal.description == "malformed-record")
            let record = exchange.open(reply: reply.span, to: request.span)
            #expect(try RegistrationReply(json: #require(record)).verdict == .refused(refusal))
        }
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
        #expect(try !home.scratch.bytes().contains(secret))
        #expect(try home.raw().integer("SELECT count(*) FROM pairings") == 1)
        // The next code takes the place of those that have ended.
        try home.store.addPairing(
            try PairingCode(url: "https://home.example.net/pair", provider: provider), topic: .app,
            provider: provider, at: start + 10 * Self.minute)
        #expect(try home.raw().integer("SELECT count(*) FROM pairings") == 1)
    }

    @Test(arguments: [
        "url = 'https://evil.example/'", "user = 'mallory'", "replaces = 'phone1'", "created = created + 1",
    ])
    func aChangedCodeIsNotUsed(_ change: String) throws {
        let home = try Home()
        let provider = try home.store.generateProviderKey(topic: .app, at: start).publicKey
        let code = try PairingCode(url: "https://home.example.net/pair", provider: provider)
        try home.store.addPairing(code, topic: .app, provider: provider, at: start)
        try home.raw().execute("UPDATE pairings SET \(change)")
        let request = try Self.bytes(of: phone(code, registration()))
        let store = try home.reopened()
        #expect(KeyStoreTests.code { try store.acceptPairing(request, at: start) } == .corruptStore)
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

extension PairingAnswer {
    fileprivate var isUnknown: Bool { if case .unknown = self { true } else { false } }
}

import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The answer secrets of a provider's store, and the answers that it opens.
@Suite struct AnswerStoreTests {
    private static let day: UInt64 = 86_400

    private let home: Home
    private let device = DeviceKey()
    private var store: SQLiteKeyStore { home.store }

    init() throws {
        home = try Home()
        _ = try store.generateProviderKey(topic: try .app, at: start)
        try register(device.publicKey, generation: 1)
    }

    private func register(
        _ key: DevicePublicKey, id: String = "phone1", generation: UInt64, replace: Bool = false,
        at now: Timestamp = start
    ) throws {
        let registration = DeviceRegistration(
            publicKey: key, topic: try .app, generation: generation, createdAt: now)
        _ = try store.addDevice(registration, id: id, owner: .user("alice"), replace: replace, at: now)
    }

    /// The answer that an app sends.
    private func answer(
        _ action: String = "APPROVE", to name: String = "deploy-17", of key: DeviceKey? = nil,
        by provider: String? = nil, sealedAt: Timestamp = start
    ) throws -> String {
        let key = key ?? device
        var message = Sealer.Message(Bytes(#"{"aps":{"alert":"Deploy?"}}"#.utf8))
        (message.isAnswerable, message.name) = (true, name)
        let record = try store.providerKey(named: provider)
        let topic = try record.topic ?? .app
        let sealer = Sealer(
            signer: try store.signer(named: provider), topic: topic,
            answers: try store.answerSecret(named: provider, at: sealedAt))
        let push = try sealer.seal(message, to: key.publicKey, at: sealedAt)
        let opener = Opener(
            topic: topic, deviceKeys: [key], trust: ProviderTrust(pinned: [record.publicKey]))
        return try #require(try opener.open(push.json, at: sealedAt).answer(action, at: sealedAt))
    }

    private func refusal(_ text: String, within limit: Interval = .days(31), at now: Timestamp = start) -> OpenError
        .Code?
    {
        do {
            _ = try store.openAnswer(text, within: limit, at: now)
            return nil
        } catch {
            return (error as? OpenError)?.code
        }
    }

    private func answerSecrets() throws -> [ProviderState.Answers] { try store.provider().keys.flatMap(\.answers) }

    private func count(_ table: String) throws -> Int64 { try home.raw().integer("SELECT count(*) FROM \(table)") }

    // MARK: Opening

    @Test func anAnswerIsOfADeviceAndItsUser() throws {
        let opened = try store.openAnswer(answer(), at: start + 60)
        #expect((opened.device, opened.user, opened.answer.action) == ("phone1", "alice", "APPROVE"))
        #expect(opened.answer.messageID == MessageID(callerName: "deploy-17"))
        #expect(opened.firstOpenedAt == nil)
    }

    @Test func theSameAgainIsTheSameAnswerAndAnotherIsRefused() throws {
        let (first, second) = (try answer(), try answer("DECLINE"))
        _ = try store.openAnswer(first, at: start + 1)
        #expect(try store.openAnswer(first, at: start + 9).firstOpenedAt == start + 1)
        let error = #expect(throws: OpenError.self) { try store.openAnswer(second, at: start + 9) }
        #expect(error?.code == .duplicate && error?.description.contains("\(start + 1)") == true)
        // Another message, and another device, have an answer of their own.
        #expect(refusal(try answer("DECLINE", to: "deploy-18")) == nil)
        let other = DeviceKey()
        try register(other.publicKey, id: "phone2", generation: 1)
        #expect(refusal(try answer("DECLINE", of: other)) == nil)
    }

    /// Two processes at once: one answer is the first.
    @Test func ofTwoAtOnceOneIsFirst() async throws {
        let answers = try (0..<8).map { try answer("ACTION-\($0)") }
        let stores = try answers.map { _ in try home.reopened() }
        let taken = await withTaskGroup(of: Bool.self) { group in
            for (store, text) in zip(stores, answers) {
                group.addTask { (try? store.openAnswer(text, at: start)) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(taken == 1)
    }

    @Test func expiredAndForgedAnswersAreNotRemembered() throws {
        let text = try answer()
        #expect(refusal(text, within: .minutes(10), at: start + 601) == .expired)
        #expect(refusal(text + "A") == .malformedEnvelope)
        #expect(try count("answers") == 0)
        #expect(refusal(text, within: .minutes(10), at: start + 600) == nil)
    }

    @Test func firstAnswersAreForgottenWhenNoneCounts() throws {
        _ = try store.openAnswer(answer(), at: start)
        let later = start + 63 * Self.day
        _ = try store.openAnswer(answer(to: "other", sealedAt: later), at: later)
        #expect(try count("answers") == 2)
        _ = try store.openAnswer(answer(to: "third", sealedAt: later + 1), at: later + 1)
        #expect(try count("answers") == 2)
    }

    /// A clock that is ahead for a moment makes no answer count twice.
    @Test func aClockThatIsAheadForgetsNoAnswer() throws {
        let second = try answer("DECLINE")
        _ = try store.openAnswer(answer(), at: start)
        let ahead = start + 40 * Self.day
        _ = try store.openAnswer(answer(to: "other", sealedAt: ahead), at: ahead)
        #expect(refusal(second, at: start + 1) == .duplicate)
    }

    @Test func aStoreWithoutASecretOpensNothing() throws {
        let text = try answer()
        let other = try Home()
        _ = try other.store.generateProviderKey(topic: try .app, at: start)
        #expect(throws: OpenError(.unknownRecipientKey, "")) { try other.store.openAnswer(text, at: start) }
        _ = try other.store.addDevice(
            DeviceRegistration(publicKey: device.publicKey, topic: try .app, generation: 1, createdAt: start), id: "p",
            at: start)
        #expect(throws: OpenError(.authenticationFailed, "")) { try other.store.openAnswer(text, at: start) }
    }

    @Test func eachAppHasItsOwnSecret() throws {
        _ = try store.generateProviderKey(named: "other", topic: try .other, at: start)
        let second = DeviceKey()
        _ = try store.addDevice(
            DeviceRegistration(publicKey: second.publicKey, topic: try .other, generation: 1, createdAt: start),
            id: "p2",
            at: start)
        #expect(try store.openAnswer(answer(by: "default"), at: start).device == "phone1")
        #expect(try store.openAnswer(answer(of: second, by: "other"), at: start).device == "p2")
        let secrets = try ["default", "other"].map { name in
            try store.answerSecret(named: name, at: start).withBytes { Bytes(copying: $0) }
        }
        #expect(secrets[0] != secrets[1])
    }

    @Test func aKeyOfNoAppNeedsTheTopic() throws {
        let other = try Home()
        _ = try other.store.generateProviderKey(at: start)
        _ = try other.store.addDevice(
            DeviceRegistration(publicKey: device.publicKey, topic: nil, generation: 1, createdAt: start), id: "p",
            at: start)
        let secret = try other.store.answerSecret(at: start)
        var message = Sealer.Message(Bytes(#"{"aps":{"alert":"x"}}"#.utf8))
        message.isAnswerable = true
        let sealer = Sealer(signer: try other.store.signer(), topic: try .app, answers: secret)
        let push = try sealer.seal(message, to: device.publicKey, at: start)
        let trust = ProviderTrust(pinned: [try other.store.providerKey().publicKey])
        let opened = try Opener(topic: try .app, deviceKeys: [device], trust: trust).open(push.json, at: start)
        let text = try #require(try opened.answer("A", at: start))
        #expect(throws: OpenError(.authenticationFailed, "")) { try other.store.openAnswer(text, at: start) }
        #expect(try other.store.openAnswer(text, topic: try .app, at: start).device == "p")
    }

    // MARK: Secrets

    @Test func theSecretStaysTheSame() throws {
        let secrets = try [store, home.reopened()].map { store in
            try store.answerSecret(at: start).withBytes { Bytes(copying: $0) }
        }
        #expect(secrets[0] == secrets[1])
        #expect(try answerSecrets().count == 1)
        #expect(try !home.scratch.bytes().contains(secrets[0]))
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    @Test func aReplacedSecretOpensFor32Days() throws {
        let old = try answer()
        _ = try store.rotateSigningKey(at: start + 60)
        // Sealed a day later, by a server that has not read the new secret.
        #expect(try answerSecrets().count == 1)
        let new = try answer(to: "new", sealedAt: start + 60)
        #expect(try answerSecrets().count == 2)
        #expect(refusal(new, at: start + 60) == nil)
        #expect(refusal(old, at: start + 31 * Self.day) == nil)
    }

    /// Answers to it open for as long as it is kept, and no longer.
    @Test(arguments: [(32 * 86_400, nil), (32 * 86_400 + 1, OpenError.Code.authenticationFailed)])
    func aReplacedSecretEnds(_ seconds: UInt64, _ expected: OpenError.Code?) throws {
        let secret = try store.answerSecret(at: start)
        _ = try store.rotateSigningKey(at: start)
        let late = start + 5 * Self.day
        var message = Sealer.Message(Bytes(#"{"aps":{"alert":"x"}}"#.utf8))
        message.isAnswerable = true
        let sealer = Sealer(signer: try store.signer(), topic: try .app, answers: secret)
        let push = try sealer.seal(message, to: device.publicKey, at: late)
        let trust = ProviderTrust(pinned: [try store.providerKey().publicKey])
        let opened = try Opener(topic: try .app, deviceKeys: [device], trust: trust).open(push.json, at: late)
        let text = try #require(try opened.answer("A", at: late))
        #expect(refusal(text, at: start + seconds) == expected)
    }

    @Test(arguments: [false, true]) func aStolenSecretIsDestroyedAtOnce(_ isOffline: Bool) throws {
        let text = try answer()
        let sealed = try #require(try home.sealed())
        if isOffline {
            let key = try store.providerSecret()
            _ = try store.takeProviderKeyOffline(key, at: start)
            let (request, _) = try store.requestCertificate(stolen: true, at: start + 5)
            let plan = try request.plan(at: start + 5)
            let certificate = try UnsignedCertificate(
                plan, for: request.signingKey, provider: request.provider, topic: request.topic
            ).signed(by: key)
            let signed = SignedCertificate(
                topic: request.topic, provider: request.provider, certificate: certificate)
            _ = try store.installCertificate(signed, at: start + 5)
        } else {
            _ = try store.rotateSigningKey(stolen: true, anyway: true, at: start + 5)
        }
        #expect(try answerSecrets().count == 0)
        #expect(refusal(text, at: start + 5) == .authenticationFailed)
        #expect(try !home.holds(sealed))
        #expect(refusal(try answer(to: "new", sealedAt: start + 6), at: start + 6) == nil)
    }

    // MARK: Devices

    @Test func aReplacedKeyOfADeviceAnswersFor32Days() throws {
        let text = try answer()
        let other = try answer(to: "other", sealedAt: start + 2 * Self.day)
        let new = DeviceKey()
        try register(new.publicKey, generation: 2, at: start + 60)
        #expect(try store.openAnswer(text, at: start + 60).device == "phone1")
        // The same phone: its first answer counts, whatever key it has.
        #expect(refusal(try answer("DECLINE", of: new, sealedAt: start + 61), at: start + 61) == .duplicate)
        #expect(try store.openAnswer(text, at: start + 31 * Self.day).firstOpenedAt == start + 60)
        let end = start + 60 + 32 * Self.day
        #expect(refusal(other, at: end) == nil)
        #expect(refusal(other, at: end + 1) == .unknownRecipientKey)
    }

    @Test func replacedKeysAreForgotten() throws {
        // A store whose messages nobody can answer keeps none.
        try register(DeviceKey().publicKey, generation: 2, at: start)
        #expect(try count("earlier_keys") == 0)
        _ = try store.answerSecret(at: start)
        try register(DeviceKey().publicKey, generation: 3, at: start + 60)
        #expect(try count("earlier_keys") == 1)
        try register(DeviceKey().publicKey, generation: 4, at: start + 61 + 32 * Self.day)
        #expect(try count("earlier_keys") == 1)
    }

    @Test(arguments: [false, true]) func aRemovedDeviceAnswersNothing(_ hadAnotherKey: Bool) throws {
        let text = try answer()
        if hadAnotherKey { try register(DeviceKey().publicKey, generation: 2, at: start + 1) }
        _ = try store.removeDevice(id: "phone1", at: start + 2)
        #expect(refusal(text, at: start + 3) == .unknownRecipientKey)
        // Nor when its id is used again.
        try register(DeviceKey().publicKey, generation: 3, at: start + 4)
        #expect(refusal(text, at: start + 5) == .unknownRecipientKey)
        #expect(try count("earlier_keys") == 0)
    }

    /// Another server of the provider has given the phone to another user.
    private func importFromBob() throws {
        let registration = DeviceRegistration(
            publicKey: DeviceKey().publicKey, topic: try .app, generation: 9, createdAt: start + 2)
        let change = DeviceChange.registered(
            id: "phone1", registration, owner: .user("bob"), updatedAt: start + 2)
        #expect(try store.importDevices([change], at: start + 2).updated == 1)
    }

    @Test func anImportedDeviceOfAnotherUserEndsItsEarlierKeys() throws {
        let text = try answer()
        try register(DeviceKey().publicKey, generation: 2, at: start + 1)
        #expect(try count("earlier_keys") == 1)
        try importFromBob()
        #expect(try count("earlier_keys") == 0)
        #expect(refusal(text, at: start + 3) == .unknownRecipientKey)
    }

    @Test func aMillionDevicesAreNotLookedThrough() throws {
        let text = try answer()
        try register(DeviceKey().publicKey, id: "phone2", generation: 1)
        let plan = try home.raw().rows("EXPLAIN QUERY PLAN SELECT id FROM devices WHERE removed IS NULL AND key_id = 1")
        let words = plan.flatMap(\.self).compactMap {
            if case .text(let text) = $0 { String(decoding: text, as: UTF8.self) } else { nil }
        }
        #expect(words.contains { $0.contains("devices_by_key") })
        #expect(try store.openAnswer(text, at: start).device == "phone1")
    }

    /// The earlier phone may be in other hands.
    @Test func aDeviceThatWasSetUpAgainAnswersOnlyWithItsNewKey() throws {
        let text = try answer()
        try register(DeviceKey().publicKey, generation: 1, replace: true, at: start + 1)
        #expect(refusal(text, at: start + 2) == .unknownRecipientKey)
    }
}

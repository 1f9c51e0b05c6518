import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Posts of phones: who may change a device without a session, and that nobody else can.
/// (`Docs/FormatRecords.md`, Posts; D-14 to D-40)
struct PostTests {
    private static let day: UInt64 = 86_400_000
    private let home: Home
    private let phone: PostingPhone
    private var store: SQLiteKeyStore { home.store }

    init() throws {
        home = try Home(.memory)
        phone = PostingPhone(of: try home.store.generateProviderKey(topic: .app, at: start).publicKey)
    }

    /// Alice's phone, by her session.
    private func enrol(_ owner: DeviceOwner = .user("alice"), _ sequence: UInt64 = 10) throws {
        #expect(try store.post(phone.signed(sequence, over: .session), session: owner) == "added")
    }

    /// Checks that a post is refused and has changed nothing.
    private func refuses(
        _ record: SignedRecord, session: DeviceOwner? = nil, _ reason: String, at now: Timestamp = start,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try store.contents()
        #expect(try store.post(record, session: session, at: now) == reason, sourceLocation: location)
        #expect(try store.contents() == before, sourceLocation: location)
    }

    // MARK: Whose it is

    @Test func thePhoneItselfNeedsNoSession() throws {
        try enrol()
        var next = phone
        (next.key, next.generation) = (DeviceKey().publicKey, 3)
        #expect(try store.post(next.signed(11) { $0.grant = "abc" }) == "updated")
        let device = try #require(try store.device(id: phone.id))
        #expect(
            device.user == "alice" && device.publicKey == next.key && device.grant == "abc" && device.sequence == 11)
        // An older key than the store has: of the phone itself, which was restored.
        #expect(try store.post(phone.signed(12)) == "updated")
        #expect(try store.device(id: phone.id)?.publicKey == phone.key)
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    /// Each has two faults, and the first of the order decides; none changes anything.
    @Test func theRulesAreCheckedInTheirOrder() throws {
        let stranger = SigningKey()
        try refuses(phone.signed(1, by: stranger), "unknown-device")
        try enrol()
        try refuses(phone.signed(9, over: .session, by: stranger), session: .user("bob"), "user-mismatch")
        try refuses(phone.signed(9, by: stranger), "bad-record-signature")
        try refuses(phone.signed(9, over: .session, by: stranger), session: .user("alice"), "bad-record-signature")
        var other = phone
        other.updateKey = stranger
        other.generation = 1
        try refuses(other.signed(9, over: .session), session: .user("alice"), "stale-record")
        let elsewhere = try Topic.other
        func moved(_ record: inout DeviceRegistration) { record.topic = elsewhere }
        try refuses(
            other.signed(11, over: .session, for: elsewhere, moved), session: .user("alice"), "generation-rollback")
        try refuses(phone.signed(11, for: elsewhere, moved), "topic-mismatch")
        var taken = phone
        (taken.id, taken.updateKey) = ("phone2", stranger)
        taken.key = DeviceKey().publicKey
        #expect(try store.post(taken.signed(1, over: .session), session: .user("bob")) == "added")
        try refuses(phone.signed(11) { ($0.publicKey, $0.topic) = (taken.key, elsewhere) }, "bad-record-signature")
        try refuses(
            phone.signed(11, for: elsewhere) { ($0.publicKey, $0.topic) = (taken.key, elsewhere) }, "topic-mismatch")
        try refuses(phone.signed(11) { $0.publicKey = taken.key }, "key-taken")
        #expect(try store.post(phone.signed(11)) == "unchanged")
    }

    /// [D-22]
    @Test func aSessionChangesOnlyDevicesOfItsUser() throws {
        try enrol(.nobody)
        for record in try [phone.signed(11, over: .session), phone.signed(11, over: .session, by: SigningKey())] {
            try refuses(record, session: .user("alice"), "user-mismatch")
        }
        #expect(try store.post(phone.signed(11, over: .session), session: .nobody) == "unchanged")
        try store.removeDevice(id: phone.id, at: start)
        let back = try phone.signed(start.milliseconds + Self.day + 1, over: .session)
        try refuses(back, session: .user("alice"), "user-mismatch")
        #expect(try store.post(back, session: .nobody) == "added")
    }

    @Test func aRecordOfAnotherChannelAppOrProviderIsNotTaken() throws {
        try enrol()
        let bad = "bad-record-signature"
        try refuses(phone.signed(11, over: .session), bad)
        try refuses(phone.signed(11, over: .open), session: .user("alice"), bad)
        try refuses(phone.signed(11, for: .other), bad)
        try refuses(phone.signed(11, for: .other) { $0.topic = nil }, bad)
        try refuses(phone.end(for: .other), bad)
        // The provider key that is signed is the one that the record names: another's record names another.
        let other = ProviderKey().publicKey
        #expect(
            try store.accept(phone.signed(11) { $0.pinnedProvider = other }.body, at: start)?.foreign == [.provider])
        try refuses(forged(phone.signed(12) { $0.pinnedProvider = other }, as: phone.signed(12)), bad)
        try refuses(forged(phone.end(at: other), as: phone.end()), bad)
        let unnamed = try phone.signed(12) { $0.pinnedProvider = nil }
        #expect(throws: KeyError.self) { try store.accept(unnamed.body, at: start) }
    }

    /// The record under the signature of the other one.
    private func forged(_ record: SignedRecord, as other: SignedRecord) throws -> SignedRecord {
        let signature = try #require(try JSONDocument(parsing: other.body).root["signature"]?.string)
        let json = #"{"record":"\#(PairingText.encode(record.bytes))","signature":"\#(signature)"}"#
        guard case .record(let record) = try PhonePost(json: Bytes(json.utf8), over: .open) else { return record }
        return record
    }

    // MARK: The update key

    /// [D-34]
    @Test func onlyASessionOrTheOperatorChangesTheUpdateKey() throws {
        try enrol()
        var other = phone
        other.updateKey = SigningKey()
        try refuses(other.signed(11), "bad-record-signature")
        // The held key signs for no other either.
        try refuses(other.signed(11, by: phone.updateKey), "bad-record-signature")
        try refuses(
            other.signed(11, over: .session, by: phone.updateKey), session: .user("alice"), "bad-record-signature")
        #expect(try store.post(other.signed(11, over: .session), session: .user("alice")) == "updated")
        try refuses(phone.signed(12), "bad-record-signature")
        try refuses(phone.end(), "bad-record-signature")
        #expect(try store.post(other.signed(12)) == "unchanged")
        // A record that nobody signed, from the operator.
        #expect(try store.addDevice(phone.record(13), id: phone.id, at: start) == .updated)
        try refuses(other.signed(14), "bad-record-signature")
        #expect(try store.post(phone.signed(14)) == "unchanged")
    }

    @Test func aDeviceWithoutAnUpdateKeyTakesNoneWithoutASession() throws {
        let bare = phone.record(1) { ($0.updateKey, $0.sequence, $0.nonce) = (nil, nil, nil) }
        try store.addDevice(bare, id: phone.id, owner: .user("alice"), at: start)
        try refuses(phone.signed(11), "bad-record-signature")
        try refuses(phone.end(), "bad-record-signature")
        #expect(try store.post(phone.signed(11, over: .session), session: .user("alice")) == "updated")
        #expect(try store.post(phone.signed(12)) == "unchanged")
        // Records without one keep it.
        #expect(try store.addDevice(bare, id: phone.id, owner: .user("alice"), at: start) == .unchanged)
        #expect(try store.post(phone.signed(13)) == "unchanged")
    }

    @Test func aPostHasToBeSignedEvenIfTheOperatorReplaces() throws {
        try enrol()
        var next = phone
        (next.key, next.updateKey, next.generation) = (DeviceKey().publicKey, SigningKey(), 1)
        func replace(_ record: SignedRecord) throws -> RegistrationOutcome {
            try store.addDevice(
                next.record(20), signed: record, id: phone.id, owner: .user("bob"), replace: true, at: start)
        }
        #expect(code { try replace(next.signed(20, over: .session, by: phone.updateKey)) } == .badRecordSignature)
        #expect(code { try replace(next.signed(20)) } == .badRecordSignature)
        #expect(try replace(next.signed(20, over: .session)) == .updated)
        #expect(try store.post(next.signed(21)) == "unchanged")
    }

    // MARK: The sequence

    @Test func aRecordThatComesTwiceOrLateChangesNothing() throws {
        try enrol()
        let first = try phone.signed(11) { $0.token = "aa" }
        let second = try phone.signed(12) { $0.token = "bb" }
        #expect(try store.post(second) == "updated")
        for record in [first, second] { try refuses(record, "stale-record") }
        try refuses(phone.signed(12, over: .session), session: .user("alice"), "stale-record")
        let answer = try #require(try store.accept(first.body, at: start))
        let trust = ProviderTrust(pinned: [phone.provider])
        let reply = try SignedReply.open(answer.body, to: first.asked, trusting: trust, for: .app, at: start)
        #expect(reply?.sequence == 12)
        #expect(try store.sequence(of: phone.id) == 12 && store.sequence(of: "phone2") == 0)
    }

    /// A store from a backup: what the phone sends next is later than what both have.
    @Test func anOlderCopyOfTheStoreTakesWhatComesNext() throws {
        let home = try Home()
        var phone = PostingPhone(of: try home.store.generateProviderKey(topic: .app, at: start).publicKey)
        phone.id = "phone1"
        #expect(try home.store.post(phone.signed(10, over: .session), session: .user("alice")) == "added")
        let (backup, key) = ("\(home.scratch.path)/backup", "\(home.scratch.path)/backup.key")
        try home.store.backUp(to: backup, key: key)
        let lost = try phone.signed(11) { $0.token = "aa" }
        #expect(try home.store.post(lost) == "updated")
        _ = try SQLiteKeyStore.restore(
            backup, to: "\(home.scratch.path)/restored", key: key, passphrase: nil, replace: false, options: .quick,
            at: start)
        let store = try SQLiteKeyStore.open(in: "\(home.scratch.path)/restored", passphrase: nil, options: .quick)
        #expect(try store.post(phone.signed(12) { $0.token = "bb" }) == "updated")
        #expect(try store.post(lost) == "stale-record")
        #expect(try store.device(id: "phone1")?.token == "bb")
    }

    // MARK: Removal

    enum Remover: CaseIterable { case apns, theOperator }

    /// [D-23] [D-39]
    @Test(arguments: Remover.allCases)
    func aRecordThatIsUnderWayUndoesNoRemoval(_ remover: Remover) throws {
        try enrol()
        switch remover {
        case .apns: #expect(try store.removeDevices([LostDevice(id: phone.id, at: start)], at: start).removed == 1)
        case .theOperator: #expect(try store.removeDevice(id: phone.id, at: start))
        }
        let known = try #require(try store.held(phone.id))
        let until = start.milliseconds + Self.day
        #expect(known.signing == RemovedDevice.Signing(updateKey: phone.updateKey.publicKey, sequence: until))
        #expect(known.user == "alice" && known.topic == phone.record(0).topic)
        try refuses(phone.signed(until, over: .session), session: .user("alice"), "stale-record")
        try refuses(phone.signed(until), remover == .apns ? "stale-record" : "unknown-device")
        try refuses(
            phone.signed(until + 1, by: SigningKey()), remover == .apns ? "bad-record-signature" : "unknown-device")
        if remover == .apns {
            #expect(try store.post(phone.signed(until + 1)) == "added")
        } else {
            try refuses(phone.signed(until + 1), "unknown-device")
            try refuses(phone.end(), "unknown-device")
            #expect(try store.post(phone.signed(until + 1, over: .session), session: .user("alice")) == "added")
        }
        #expect(try store.device(id: phone.id)?.user == "alice" && store.held(phone.id)?.removed == nil)
    }

    @Test func aHigherSequenceThanARemovalsStays() throws {
        let ahead = start.milliseconds + 2 * Self.day
        try enrol(.user("alice"), ahead)
        #expect(try store.removeDevices([LostDevice(id: phone.id, at: start)], at: start).removed == 1)
        try refuses(phone.signed(ahead), "stale-record")
        #expect(try store.post(phone.signed(ahead + 1)) == "added")
    }

    /// [D-26]
    @Test func anEndOutranksEverything() throws {
        try enrol()
        let largest = DeviceEnd.sequence - 1
        #expect(try store.post(phone.signed(largest)) == "unchanged")
        try refuses(phone.end(by: SigningKey()), "bad-record-signature")
        #expect(try store.post(phone.end()) == "ended")
        #expect(try store.device(id: phone.id) == nil)
        #expect(try store.held(phone.id)?.signing.sequence == DeviceEnd.sequence)
        try refuses(phone.end(), "unknown-device")
        try refuses(phone.signed(largest), "unknown-device")
        var other = phone
        (other.updateKey, other.generation) = (SigningKey(), 3)
        for phone in [phone, other] {
            try refuses(phone.signed(largest, over: .session), session: .user("alice"), "stale-record")
        }
        // The user logs in again on the same phone.
        other.id = "phone2"
        #expect(try store.post(other.signed(1, over: .session), session: .user("alice")) == "added")
        // The operator brings the id back: as a device that has said nothing.
        let bare = DeviceRegistration(
            publicKey: DeviceKey().publicKey, topic: try .app, generation: 4, createdAt: start)
        #expect(try store.addDevice(bare, id: phone.id, owner: .user("alice"), at: start + 1) == .added)
        #expect(try store.device(id: phone.id)?.updateKey == nil && store.sequence(of: phone.id) == 0)
    }

    /// It needs none, and whoever brings it is not asked.
    @Test(arguments: [DeviceOwner.user("alice"), .user("bob"), .nobody, .unchanged])
    func anEndIsTakenInAnySession(_ owner: DeviceOwner) throws {
        try enrol()
        #expect(try store.post(phone.end(), session: owner) == "ended")
    }

    @Test func anEndAfterAPNsAnswerStays() throws {
        try enrol()
        #expect(try store.removeDevices([LostDevice(id: phone.id, at: start)], at: start).removed == 1)
        #expect(try store.post(phone.end(), at: start + 1) == "ended")
        try refuses(phone.signed(DeviceEnd.sequence - 1), "unknown-device")
    }

    // MARK: Two stores

    private func exported(by store: SQLiteKeyStore, of id: String) throws -> DeviceChange {
        let known = try #require(try store.held(id))
        if let removed = known.removed { return .removed(removed) }
        let device = try #require(known.device)
        var registration = DeviceRegistration(
            deviceID: id, publicKey: device.publicKey, suites: device.suites, topic: device.topic,
            generation: device.generation, createdAt: device.createdAt, pinnedProvider: device.pinnedProvider)
        (registration.updateKey, registration.sequence) = (device.updateKey, device.sequence)
        return .registered(
            id: id, registration, owner: device.user.map(DeviceOwner.user) ?? .nobody, updatedAt: device.updatedAt)
    }

    /// [D-40]
    @Test func anImportTakesTheHigherSequence() throws {
        try enrol()
        let other = try Home(.memory).store
        #expect(try other.importDevices([exported(by: store, of: phone.id)], at: start + 1).added == 1)
        // Both have the update key: each takes records of the phone.
        #expect(try other.post(phone.signed(12), at: start + 60) == "unchanged")
        #expect(try store.post(phone.signed(11), at: start + 60) == "unchanged")
        // The record of the one is not later, but its sequence is higher.
        let result = try store.importDevices([exported(by: other, of: phone.id)], at: start + 61)
        #expect(result.unchanged == 1 && result.refused.isEmpty)
        try refuses(phone.signed(12), "stale-record")
        // An older record of another store does not lower it.
        _ = try other.importDevices([exported(by: store, of: phone.id)], at: start + 62)
        #expect(try other.sequence(of: phone.id) == 12)
        #expect(try store.post(phone.signed(14) { $0.token = "aa" }, at: start + 70) == "updated")
        #expect(try other.post(phone.signed(13) { $0.token = "bb" }, at: start + 71) == "updated")
        let (earlier, later) = (try exported(by: store, of: phone.id), try exported(by: other, of: phone.id))
        #expect(try other.importDevices([earlier], at: start + 72).stale == 1)
        #expect(try other.sequence(of: phone.id) == 14 && other.device(id: phone.id)?.token == "bb")
        // Nor does a later one.
        #expect(try store.importDevices([later], at: start + 73).stale == 0)
        #expect(try store.sequence(of: phone.id) == 14 && store.device(id: phone.id)?.updatedAt == start + 71)
    }

    @Test func aRemovalIsImportedWithItsSequence() throws {
        try enrol()
        let other = try Home(.memory).store
        let late = try Home(.memory).store
        for other in [other, late] {
            #expect(try other.importDevices([exported(by: store, of: phone.id)], at: start + 1).added == 1)
        }
        #expect(try store.post(phone.end(), at: start + 60) == "ended")
        // A record that reaches another store after the end does not outlive it, or undo it.
        #expect(try late.post(phone.signed(50), at: start + 70) == "unchanged")
        let record = try exported(by: late, of: phone.id)
        #expect(try late.importDevices([exported(by: store, of: phone.id)], at: start + 80).removed == 1)
        #expect(try store.importDevices([record], at: start + 80).stale == 1)
        #expect(try other.importDevices([exported(by: store, of: phone.id)], at: start + 61).removed == 1)
        #expect(try other.post(phone.signed(99), at: start + 62) == "unknown-device")
        #expect(try other.post(phone.signed(99, over: .session), session: .user("alice")) == "stale-record")
        // An end outranks a later removal.
        let third = try Home(.memory).store
        let removal = RemovedDevice(id: phone.id, removedAt: start + 90)
        #expect(try third.importDevices([.removed(removal)], at: start + 91).removed == 1)
        #expect(try third.importDevices([exported(by: store, of: phone.id)], at: start + 92).removed == 1)
        #expect(try third.importDevices([.removed(removal)], at: start + 93).stale == 1)
        #expect(try third.sequence(of: phone.id) == DeviceEnd.sequence)
    }

    // MARK: Replies

    private func reply(
        to post: Bytes, _ asked: Bytes, _ trust: ProviderTrust, at now: Timestamp = start
    ) throws -> RegistrationReply? {
        let answer = try #require(try store.accept(post, at: now))
        return try SignedReply.open(answer.body, to: asked, trusting: trust, for: .app, at: now)
    }

    @Test func repliesWithoutASessionAreSigned() throws {
        try enrol()
        let (trust, record) = (ProviderTrust(pinned: [phone.provider]), try phone.signed(11))
        #expect(try reply(to: record.body, record.asked, trust)?.verdict == .acknowledged(phone.key))
        let stranger = ProviderTrust(pinned: [ProviderKey().publicKey])
        #expect(try reply(to: record.body, record.asked, stranger) == nil)
        #expect(try reply(to: record.body, phone.signed(11).asked, trust) == nil, "another nonce")
        // In a session it is not, and nobody takes it for a signed one.
        let next = try phone.signed(12, over: .session)
        let answer = try #require(try store.accept(next.body, session: .user("alice"), at: start))
        #expect(try RegistrationReply(json: answer.body).verdict == .acknowledged(phone.key))
        #expect(try SignedReply.open(answer.body, to: next.asked, trusting: trust, for: .app, at: start) == nil)
        // Of what is refused, too.
        var unknown = phone
        unknown.id = "phone2"
        let other = try unknown.signed(1)
        #expect(try reply(to: other.body, other.asked, trust)?.verdict == .refused(.unknownDevice))
        let end = try phone.end()
        #expect(try reply(to: end.body, end.asked, trust)?.verdict == .ended(phone.id))
    }

    @Test func repliesNameTheNextPushKeyUntilItIsUsed() throws {
        try enrol()
        let (first, next) = (try store.addPushKey(at: start), try store.addNextPushKey(at: start))
        for (sequence, now, expected) in [
            (11, start, [first, next]), (12, start.adding(.days(7)), [next]),
        ] as [(UInt64, Timestamp, [PushKeyRecord])] {
            let record = try phone.signed(sequence)
            let trust = ProviderTrust(pinned: [phone.provider])
            let told = try #require(try reply(to: record.body, record.asked, trust, at: now))
            #expect([told.pushKey, told.nextPushKey].compactMap(\.self) == expected.map(\.publicKey))
        }
    }

    @Test(arguments: [nil, .user("alice")] as [DeviceOwner?])
    func aPhoneWhoseGrantHasEndedHearsIt(_ session: DeviceOwner?) throws {
        try enrol()
        var sequence: UInt64 = 10
        func isEnded(_ grant: String?) throws -> Bool {
            sequence += 1
            let record = try phone.signed(sequence, over: session == nil ? .open : .session) { $0.grant = grant }
            guard let session else {
                let told = try reply(to: record.body, record.asked, ProviderTrust(pinned: [phone.provider]))
                return try #require(told).isGrantEnded
            }
            let answer = try #require(try store.accept(record.body, session: session, at: start))
            return try RegistrationReply(json: answer.body).isGrantEnded
        }
        #expect(try !isEnded("first") && !isEnded(nil) && !isEnded("first"))
        #expect(try store.endGrants([EndedGrant(id: phone.id, grant: "first")]) == 1)
        // Each time the phone sends it: the reply may be lost.
        #expect(try isEnded("first") && isEnded("first") && !isEnded(nil) && isEnded("first"))
        #expect(try store.device(id: phone.id)?.grant == nil)
        #expect(try !isEnded("second") && !isEnded("second"))
        #expect(try store.device(id: phone.id)?.grant == "second")
    }

    /// [D-44]
    @Test func aReplyOfAReplacedSigningKeyIsNotBelieved() throws {
        try enrol()
        try store.rotateSigningKey(at: start)
        let old = try #require(try store.providerKey().certificate)
        let record = try phone.signed(11)
        let answer = try #require(try store.accept(record.body, at: start + 1))
        func open(_ certificate: Certificate, at now: Timestamp) throws -> RegistrationReply? {
            let trust = ProviderTrust([ProviderTrust.Pin(phone.provider, LearnedTrust(certificate))])
            return try SignedReply.open(answer.body, to: record.asked, trusting: trust, for: .app, at: now)
        }
        #expect(try open(old, at: start + 1)?.certificate == old)
        let planned = try #require(try store.rotateSigningKey(at: start + 100).certificate)
        #expect(try open(planned, at: start + 101) != nil, "within its grace")
        let stolen = try #require(try store.rotateSigningKey(stolen: true, anyway: true, at: start + 200).certificate)
        #expect(try open(stolen, at: start + 201) == nil)
    }

    /// [P-11]
    @Test func aHelloIsAnsweredByTheProviderAlone() throws {
        let hello = RecordNonce()
        let (body, asked) = (PhonePost.hello(hello).body, Bytes(hello.description.utf8))
        let trust = ProviderTrust(pinned: [phone.provider])
        #expect(try reply(to: body, asked, trust)?.verdict == .hello(hello.description))
        #expect(try reply(to: body, Bytes(RecordNonce().description.utf8), trust) == nil)
        #expect(try reply(to: body, asked, ProviderTrust(pinned: [ProviderKey().publicKey])) == nil)
        let certificate = try #require(try store.rotateSigningKey(stolen: true, anyway: true, at: start).certificate)
        #expect(try reply(to: body, asked, trust)?.certificate == certificate)
        #expect(code { try Home(.memory).store.accept(body, at: start) } == .unknownName, "no provider key signs")
    }

    @Test func anAnswerIsHandedOn() throws {
        let answer = try store.accept(Bytes(#"{"answer":"AAAA"}"#.utf8), at: start)
        guard case .answer("AAAA")? = answer?.event else {
            Issue.record("\(String(describing: answer))")
            return
        }
        #expect(answer?.body == [])
    }
}

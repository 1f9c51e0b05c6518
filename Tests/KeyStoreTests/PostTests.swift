import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Posts of phones: who may change a device without a session, and that nobody else can.
/// (`Docs/FormatRecords.md`, Posts; D-14 to D-40)
struct PostTests {
    private let home: Home
    private let phone: PostingPhone
    private var store: SQLiteKeyStore { home.store }

    init() throws {
        home = try Home(.memory)
        phone = PostingPhone(of: try home.store.generateProviderKey(topic: .app, at: start).publicKey)
    }

    /// Alice's phone, by her session.
    private func enrol() throws {
        #expect(try store.post(phone.signed(10, over: .session), session: .user("alice")) == "added")
    }

    /// Checks that a post is refused and has changed nothing.
    private func refuses(
        _ record: SignedRecord, session: DeviceOwner? = nil, _ reason: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try store.contents()
        #expect(try store.post(record, session: session) == reason, sourceLocation: location)
        #expect(try store.contents() == before, sourceLocation: location)
    }

    // MARK: Whose it is

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

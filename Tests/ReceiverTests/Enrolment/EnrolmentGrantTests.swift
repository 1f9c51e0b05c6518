import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// The grants of an account at the app's relay. [D-52]
@Suite struct EnrolmentGrantTests {
    private let now = Timestamp.start
    private let phone = Installation()
    /// Push keys of the account's server.
    private let keys = (0..<3).map { _ in PushKey().publicKey }
    private let address: PushAddress

    init() throws {
        address = try #require(PushAddress(token: [1], environment: .production, topic: .app))
        let origin = try #require(RelayOrigin("https://push.example.com"))
        _ = try phone.next()
        try phone.store.edit { $0.use(origin) }
    }

    private func grant(_ text: String, _ key: SigningPublicKey, at now: Timestamp? = nil, until end: Timestamp? = nil)
        -> DeviceState.Grant
    {
        let now = now ?? self.now
        return DeviceState.Grant(
            text, secret: "secret", key, for: address, at: now, until: end ?? now.adding(.days(300)))
    }

    /// Gets a reply with these push keys.
    private func hear(_ key: SigningPublicKey?, _ next: SigningPublicKey? = nil, isGrantEnded: Bool = false) throws {
        let request = try phone.request()
        var reply = RegistrationReply(
            .acknowledged(request.record.publicKey), provider: nil, certificate: nil, pushKey: key)
        (reply.nextPushKey, reply.isGrantEnded) = (next, isGrantEnded)
        try phone.take(reply, to: request)
    }

    /// The push key for which the phone fetches a grant.
    private func wanted(at now: Timestamp = .start, _ address: PushAddress? = nil) throws -> SigningPublicKey? {
        try phone.state.pushKeyWithoutGrant(of: "default", at: address ?? self.address, at: now)
    }

    private func add(_ grant: DeviceState.Grant) throws {
        try phone.store.edit { $0.add(grant, to: "default", at: now) }
    }

    private var grants: [String] { get throws { try phone.registration.grants.map(\.text) } }

    private var ended: [String] { get throws { try phone.state.relay?.ended.map(\.text) ?? [] } }

    @Test func thereIsAGrantForEachPushKeyAndTheRecordHasThatOfThePresentOne() throws {
        #expect(try wanted() == nil)
        try hear(keys[0], keys[1])
        #expect(try wanted() == keys[0])
        try add(grant("a", keys[0]))
        #expect(try wanted() == keys[1])
        try add(grant("b", keys[1]))
        #expect(try wanted() == nil && phone.state.grant(of: "default")?.text == "a")
        // The operator has changed them: what is for another key ends.
        try hear(keys[1], keys[2])
        #expect(try grants == ["b"] && ended == ["a"] && wanted() == keys[2])
        #expect(try phone.state.grant(of: "default")?.text == "b")
        try hear(nil)
        #expect(try grants == [] && ended == ["a", "b"] && wanted() == nil)
    }

    /// After a week, for another token, and when a clock was set back.
    @Test func aGrantIsFetchedAnew() throws {
        try hear(keys[0])
        try add(grant("a", keys[0]))
        let other = try #require(PushAddress(token: [2], environment: .production, topic: .app))
        for (time, address, expected) in [
            (now, address, nil), (now.plus(days: 7).subtracting(milliseconds: 1), address, nil),
            (now.plus(days: 7), address, keys[0]), (now.subtracting(milliseconds: 1), address, keys[0]),
            (now, other, keys[0]),
        ] as [(Timestamp, PushAddress, SigningPublicKey?)] {
            #expect(try wanted(at: time, address) == expected)
        }
    }

    /// The server says that the relay has ended the grant of this record.
    @Test func aGrantThatHasEndedIsReplaced() throws {
        try hear(keys[0])
        try add(grant("a", keys[0]))
        phone.facts.grant = "a"
        try hear(keys[0], isGrantEnded: true)
        #expect(try grants == [] && wanted() == keys[0] && phone.results.last?.goesOn == true)
    }

    /// With its account, whatever ends that; one that comes later for an account that is gone ends, too.
    @Test(arguments: 0..<4) func grantsEndWithTheirDevice(_ number: Int) throws {
        try hear(keys[0])
        try add(grant("a", keys[0]))
        switch number {
        case 0: try phone.logOut()
        case 1: try phone.hear(.refused(.generationRollback))
        case 2: try phone.hear(.refused(.userMismatch))
        default: try phone.hear(.refused(.staleRecord), sequence: DeviceEnd.sequence)
        }
        #expect(try ended == ["a"])
        try phone.store.edit { $0.add(grant("b", keys[0]), to: "nobody", at: now) }
        #expect(try ended == ["a", "b"])
    }

    /// Another installation ends all of the token, with the first grant that it gets.
    @Test func anotherInstallationEndsAll() throws {
        try hear(keys[0])
        try add(grant("a", keys[0]))
        try phone.store.edit { $0.noteAllEnded([grant("a", keys[0])]) }
        #expect(try phone.state.relay?.endsAll == false && grants == [])
        try add(grant("b", keys[0]))
        phone.mark = "second"
        _ = try phone.next()
        #expect(try phone.state.relay?.endsAll == true && grants == [])
    }

    @Test func anAccountHasSoManyGrants() throws {
        try hear(keys[0])
        for number in 0..<40 { try add(grant("g\(number)", keys[0], until: number == 0 ? now : nil)) }
        // The first has expired; seven wait for their end.
        #expect(try grants == (8..<40).map { "g\($0)" } && ended == (1..<8).map { "g\($0)" })
        // Nobody believes a relay that a grant lives for longer than it may.
        #expect(try phone.registration.grants.allSatisfy { $0.endsAt == now.adding(.days(180)) })
        for _ in 0..<2 {
            try phone.logOut()
            try hear(keys[0])
            for number in 0..<32 { try add(grant("h\(number)", keys[0])) }
        }
        #expect(try ended.count == 64)
    }

    /// The phone posts its token to none but the app's relay: what another one issued is forgotten.
    @Test func anotherRelayBegins() throws {
        try hear(keys[0])
        try add(grant("a", keys[0]))
        let other = try #require(RelayOrigin("https://other.example.com"))
        try phone.store.edit { $0.use(other) }
        #expect(try grants == [] && ended == [] && phone.state.relay?.origin == other.description)
    }
}

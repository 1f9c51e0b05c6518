import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// The grants of an account at the app's relay. [D-52]
@Suite struct EnrolmentGrantTests {
    private let now = Timestamp.start
    private let phone = Installation()
    /// The push key of the account's server.
    private let key = PushKey().publicKey
    private let address: PushAddress

    init() throws {
        address = try #require(PushAddress(token: [1], environment: .production, topic: .app))
        let origin = try #require(RelayOrigin("https://push.example.com"))
        _ = try phone.next()
        try phone.store.edit { $0.use(origin) }
    }

    private func grant(_ text: String, until end: Timestamp? = nil) -> DeviceState.Grant {
        DeviceState.Grant(text, secret: "secret", key, for: address, at: now, until: end ?? now.adding(.days(300)))
    }

    /// Gets a reply with the push key.
    private func hear() throws {
        let request = try phone.request()
        var reply = RegistrationReply(.acknowledged(request.record.publicKey))
        reply.pushKey = key
        try phone.take(reply, to: request)
    }

    private func add(_ grant: DeviceState.Grant) throws {
        try phone.store.edit { $0.add(grant, to: "default", at: now) }
    }

    private var grants: [String] { get throws { try phone.registration.grants.map(\.text) } }

    private var ended: [String] { get throws { try phone.state.relay?.ended.map(\.text) ?? [] } }

    /// Of a device that is not the phone's any more, too.
    @Test(arguments: [RegistrationReply.Refusal.userMismatch, .generationRollback])
    func grantsEndWithARefusedDevice(_ refusal: RegistrationReply.Refusal) throws {
        try hear()
        try add(grant("a"))
        try phone.hear(.refused(refusal))
        #expect(try ended == ["a"])
    }

    /// Another installation ends all of the token's.
    @Test func anotherInstallationEndsAll() throws {
        try hear()
        try add(grant("a"))
        try phone.store.edit { $0.noteAllEnded([grant("a")]) }
        #expect(try phone.state.relay?.endsAll == false && grants == [])
        try add(grant("b"))
        phone.mark = "second"
        _ = try phone.next()
        #expect(try phone.state.relay?.endsAll == true && grants == [])
    }

    @Test func anAccountHasSoManyGrants() throws {
        try hear()
        for number in 0..<40 { try add(grant("g\(number)", until: number == 0 ? now : nil)) }
        // The first has expired; seven wait for their end.
        #expect(try grants == (8..<40).map { "g\($0)" } && ended == (1..<8).map { "g\($0)" })
        // Nobody believes a relay that a grant lives for longer than it may.
        #expect(try phone.registration.grants.allSatisfy { $0.endsAt == now.adding(.days(180)) })
        for _ in 0..<2 {
            try phone.logOut()
            try hear()
            for number in 0..<32 { try add(grant("h\(number)")) }
        }
        #expect(try ended.count == 64)
    }
}

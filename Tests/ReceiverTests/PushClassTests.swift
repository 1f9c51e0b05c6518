import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Simulated

/// A message opens only as what it was sealed for. [O-6.2]
@Suite struct PushClassTests {
    static let types: [(type: PushType, pushClass: PushClass)] = [
        (.alert, .alert), (.background, .background), (.voip, .call),
    ]

    @Test(arguments: types, PushClass.allCases)
    func aMessageOpensAsWhatItWasSealedForAndAsNothingElse(
        _ sealed: (type: PushType, pushClass: PushClass), _ received: PushClass
    ) throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        try provider.rotate(at: .start)
        var options = Sealer.Message([])
        options.pushType = sealed.type
        let push = try provider.push(at: .start, like: options)
        let before = try StoreFiles(in: phone.folder)
        let reception = phone.receive(push, as: received, request: "a", at: .start)
        guard sealed.pushClass != received else {
            #expect(reception.code == "opened" && reception.shown == DuplicateTests.opened)
            return
        }
        // Neither the guard nor the trust has changed, so the genuine push is new.
        #expect(reception.code == "wrong-push-class" && reception.shown.subtitle == "(Encrypted)")
        #expect(reception.opened == nil && reception.warnings.isEmpty)
        #expect(try StoreFiles(in: phone.folder).changes(since: before) == [])
        let genuine = phone.receive(push, as: sealed.pushClass, request: "b", at: .start)
        #expect(genuine.code == "opened" && genuine.shown == DuplicateTests.opened)
        #expect(try phone.certificate == provider.certificate)
    }

    /// Only a message that somebody signed says what it is for.
    @Test func whoHasNoKeyLearnsNothing() throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        let stranger = try Sealer(provider: ProviderKey(), topic: .app)
            .seal(Sealer.Message(Provider.payload.utf8), to: phone.newestKey().publicKey, at: .start)
        for pushClass in PushClass.allCases {
            #expect(phone.receive(stranger.json, as: pushClass, at: .start).code == "authentication-failed")
        }
    }
}

import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Trust of a device: pins of accounts, and what was learned of each provider.
struct TrustTests {
    private let provider: TestProvider
    private let next: TestProvider
    private let topic: Topic

    init() throws {
        provider = try TestProvider()
        next = try TestProvider(ProviderKey())
        topic = try .app
    }

    /// A state whose account trusts the provider.
    private func pinned(_ certificate: Certificate? = nil) throws -> DeviceState {
        var state = DeviceState()
        try state.pin(ProviderPin(provider.publicKey, certificate: certificate), topic: topic)
        return state
    }

    private func trust(_ state: DeviceState, _ account: String = "default") -> ProviderTrust {
        state.trust(for: topic, account: account)
    }

    private func pin(_ certificate: Certificate? = nil) -> ProviderPin {
        ProviderPin(provider.publicKey, certificate: certificate)
    }

    // MARK: Pins

    @Test func aPinnedProviderIsBelieved() throws {
        var state = DeviceState()
        #expect(try state.pin(pin(), topic: topic) == .added)
        #expect(try state.pin(pin(), topic: topic) == .unchanged)
        #expect(try state.pin(pin()) == .unchanged)
        #expect(trust(state) == ProviderTrust(pinned: [provider.publicKey]))
        #expect(state.accounts.map(\.name) == ["default"] && state.accounts[0].topic == topic)
        #expect(state.accounts[0].pins == [DeviceState.Pin(key: provider.publicKey, origin: .app)])
    }

    @Test func accountsDoNotSharePins() throws {
        var state = DeviceState()
        try state.pin(pin(), for: "anna", topic: topic)
        try state.pin(ProviderPin(next.publicKey), for: "ben", topic: topic)
        #expect(trust(state, "a\u{6e}na").pinned == [provider.publicKey])
        #expect(trust(state, "ben").pinned == [next.publicKey])
        for name in ["carla", "Anna"] { #expect(trust(state, name).pinned.isEmpty) }
    }

    @Test func aProviderOfOneAppIsNotBelievedForAnother() throws {
        var state = try pinned()
        try state.pin(ProviderPin(next.publicKey), for: "every app")
        #expect(try state.trust(for: .other, account: "default").pinned.isEmpty)
        for topic in [topic, try .other] {
            #expect(state.trust(for: topic, account: "every app").pinned == [next.publicKey])
        }
        let before = state
        for (name, topic) in [("default", try Topic.other), ("every app", topic)] {
            #expect(code { try state.pin(pin(), for: name, topic: topic) } == .topicMismatch)
        }
        #expect(code { try state.setPins([pin()], topic: .other) } == .topicMismatch)
        #expect(code { try state.pinFirst(pin(), for: "default", topic: .other) } == .topicMismatch)
        #expect(state == before)
    }

    @Test func anAccountHasTwoPinsAtMost() throws {
        var state = try pinned()
        let third = ProviderPin(ProviderKey().publicKey)
        try state.pin(ProviderPin(next.publicKey), topic: topic)
        let before = state
        #expect(code { try state.pin(third, topic: topic) } == .tooManyPins)
        #expect(code { try state.setPins([pin(), ProviderPin(next.publicKey), third], topic: topic) } == .tooManyPins)
        #expect(state == before)
        #expect(try state.pin(ProviderPin(next.publicKey), topic: topic) == .unchanged)
        #expect(state.unpin(provider.publicKey) == true)
        #expect(try state.pin(third, topic: topic) == .added)
        #expect(trust(state).pinned == [next.publicKey, third.key])
    }

    /// [D-42]
    @Test func aReplyPinsTheFirstProviderAndNoOther() throws {
        var state = DeviceState()
        let certificate = try provider.certificate(3)
        try state.pinFirst(pin(certificate), for: "default", topic: topic)
        #expect(state.accounts[0].pins.map(\.origin) == [.reply] && trust(state).learned == LearnedTrust(certificate))
        let other = ProviderPin(next.publicKey)
        let before = state
        #expect(code { try state.pinFirst(other, for: "default", topic: topic) } == .providerAlreadyPinned)
        #expect(state == before)
        // A later reply of the same provider.
        let later = try provider.certificate(5)
        try state.pinFirst(pin(later), for: "default", topic: topic)
        #expect(trust(state).learned == LearnedTrust(later) && state.accounts[0].pins.map(\.origin) == [.reply])
        // Replies never replace the app's pins.
        try state.setPins([other], topic: topic)
        #expect(code { try state.pinFirst(pin(later), for: "default", topic: topic) } == .providerAlreadyPinned)
        #expect(trust(state).pinned == [next.publicKey])
    }

    @Test func theAppsPinsReplaceAllOthersInOneStep() throws {
        var state = DeviceState()
        let stranger = ProviderPin(ProviderKey().publicKey)
        try state.pinFirst(stranger, for: "default", topic: topic)
        try state.pin(stranger, for: "ben", topic: topic)
        let certificate = try provider.certificate(7)
        let before = state
        let wrong = [pin(), ProviderPin(next.publicKey, certificate: certificate)]
        #expect(code { try state.setPins(wrong, topic: topic) } == .badCertificateSignature)
        #expect(state == before)
        let pins = [ProviderPin(next.publicKey), pin(certificate)]
        try state.setPins(pins, topic: topic)
        #expect(trust(state).pinned == [next.publicKey, provider.publicKey], "in the app's order")
        #expect(trust(state).pins[1].learned.certificate == certificate)
        #expect(state.account("default")?.pins.map(\.origin) == [.app, .app])
        try state.setPins(pins.reversed(), topic: topic)
        #expect(trust(state).pinned == [provider.publicKey, next.publicKey])
        #expect(trust(state, "ben").pinned == [stranger.key], "another account's pin stays")
        try state.setPins([], topic: topic)
        #expect(trust(state).pinned.isEmpty)
    }

    @Test func aRemovedProviderIsNotBelieved() throws {
        var state = try pinned()
        #expect(!state.unpin(next.publicKey) && !state.unpin(provider.publicKey, for: "ben"))
        #expect(state.unpin(provider.publicKey) && !state.unpin(provider.publicKey))
        #expect(trust(state).pinned.isEmpty && state.accounts.isEmpty, "nothing is left of the account")
        try state.add(at: start)
        try state.pin(pin())
        #expect(state.unpin(provider.publicKey) && state.keys.count == 1)
    }

    // MARK: Pin and certificate

    @Test func aPinAndItsCertificateAreStoredTogetherOrNotAtAll() throws {
        let good = try provider.certificate(4, floor: 2)
        var bytes = good.bytes
        bytes[120] ^= 1
        let forged = Certificate(checked: bytes)
        let ofAnotherApp = try TestProvider(provider.key, topic: "com.example.other").certificate(4)
        var state = DeviceState()
        for wrong in [forged, ofAnotherApp, try next.certificate(4)] {
            #expect(code { try state.pin(pin(wrong), topic: topic) } == .badCertificateSignature)
            #expect(code { try state.pinFirst(pin(wrong), for: "a", topic: topic) } == .badCertificateSignature)
        }
        #expect(state == DeviceState())
        #expect(try state.pin(pin(good), topic: topic) == .added)
        #expect(trust(state).learned == LearnedTrust(good))
        let later = try provider.certificate(5, floor: 1)
        #expect(try state.pin(pin(later), topic: topic) == .updated)
        #expect(try state.pin(pin(good), topic: topic) == .unchanged)
        #expect(trust(state).learned == LearnedTrust(later, floor: 2))
    }

    /// A pin for whichever app the account's keys are for: the certificate is for that app.
    @Test func aCertificateIsForOneApp() throws {
        var state = DeviceState()
        let certificate = try provider.certificate(4)
        #expect(code { try state.pin(pin(certificate)) } == .topicMismatch)
        try state.add(topic: topic, at: start)
        #expect(try state.pin(pin(certificate)) == .added)
        #expect(trust(state).learned.certificate == certificate)
        #expect(try state.trust(in: provider.publicKey, for: .other).learned.certificate == nil)
    }

    // MARK: Learned trust

    /// [T-6]
    @Test func learnedTrustBelongsToNoAccountAndOutlivesEveryPin() throws {
        let certificate = try provider.certificate(9, floor: 9)
        var state = try pinned(certificate)
        try state.add(topic: topic, at: start)
        try state.pin(pin(), for: "ben", topic: topic)
        #expect(trust(state, "ben").learned == LearnedTrust(certificate), "what one account has learned, all know")
        let losses: [(inout DeviceState) throws -> Void] = [
            { $0.unpin(provider.publicKey) }, { $0.removeAccount("default") }, { try $0.setPins([], topic: topic) },
        ]
        for lose in losses {
            try lose(&state)
            #expect(state.trust(in: provider.publicKey, for: topic).learned == LearnedTrust(certificate))
            // An old certificate comes with the pin.
            try state.pin(pin(try provider.certificate(3)), topic: topic)
            #expect(trust(state).learned == LearnedTrust(certificate))
        }
    }

    /// Knowledge depends on what a phone has seen, and on no order; floors that fall and twins of one epoch, as of two machines
    /// and a restored store. [T-6]
    @Test func theSameIsKnownInWhateverOrderItIsLearned() throws {
        let claims: [(UInt32, UInt32, Int)] = [(1, 0, 1), (2, 0, 2), (2, 2, 3), (3, 1, 4), (3, 3, 5), (4, 2, 6)]
        let certificates = try claims.map { try provider.certificate($0.0, floor: $0.1, signing: $0.2) }
        for a in certificates {
            for b in certificates {
                for c in certificates {
                    var (state, expected) = (DeviceState(), LearnedTrust())
                    for certificate in [a, b, c] {
                        try state.learn(certificate, of: provider.publicKey, topic: topic)
                        expected.merge(LearnedTrust(certificate))
                        #expect(state.trust(in: provider.publicKey, for: topic).learned == expected)
                    }
                }
            }
        }
    }

    // MARK: Contradictions

    /// [T-3]
    @Test func aContradictionIsToldOnceToTheAccountsThatTrustTheProvider() throws {
        let key = DeviceKey()
        var state = try pinned(try provider.certificate(4, signing: 1))
        try state.pin(ProviderPin(next.publicKey), for: "ben", topic: topic)
        #expect(!state.isContradicted("default", topic))
        state.settle(
            try provider.opened(with: key, provider.certificate(4, signing: 2), signing: 2), topic: topic, at: start)
        state = try state.readBack()
        #expect(!state.isContradicted("ben", topic))
        #expect(try !state.isContradicted("default", .other))
        #expect(state.isContradicted("default", topic))
        state.endContradiction(of: "default", topic)
        #expect(!state.isContradicted("default", topic))
        let both = [try provider.certificate(4, signing: 1), try provider.certificate(4, signing: 2)]
        #expect(trust(state).learned.certificate == both.max())
    }
}

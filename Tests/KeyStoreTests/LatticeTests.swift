import Glibc
import ModelKeychain
import Pushcrypt
import Seed
import Testing

@testable import PushcryptKeyStore

/// What a phone knows only grows, and depends on what it has seen, not on who wrote it, when, or how often: app and
/// extension, in any order, ended anywhere. [T-6]
struct LatticeTests {
    private let provider: TestProvider
    /// Of two machines and a restored store: floors that fall, and twins of one epoch.
    private let certificates: [Certificate]

    init() throws {
        let provider = try TestProvider()
        self.provider = provider
        let claims: [(UInt32, UInt32, Int)] = [(1, 0, 1), (2, 0, 2), (2, 2, 3), (3, 1, 4), (3, 3, 5), (4, 2, 6)]
        certificates = try claims.map { try provider.certificate($0.0, floor: $0.1, signing: $0.2) }
    }

    private func join(_ certificates: some Sequence<Certificate>) -> LearnedTrust {
        certificates.reduce(into: LearnedTrust()) { $0.merge(LearnedTrust($1)) }
    }

    /// Every order of any three, in every kind of store.
    @Test(arguments: [DeviceStoreKind.memory, .keychain])
    func aStoreKnowsTheSameInWhateverOrderItLearns(_ kind: DeviceStoreKind) throws {
        for a in certificates {
            for b in certificates {
                for c in certificates {
                    let store = try kind.store()
                    try store.pinProvider(provider.publicKey, topic: .app, at: start)
                    var before = LearnedTrust()
                    for certificate in [a, b, c] {
                        try store.acceptCertificate(certificate, of: provider.publicKey, topic: .app, at: start)
                        let after = try store.trust(for: .app, account: "default").learned
                        #expect(after.floor >= before.floor)
                        #expect(
                            before.certificate.map { before in after.certificate.map { before <= $0 } ?? false } ?? true
                        )
                        before = after
                    }
                    #expect(before == join([a, b, c]))
                }
            }
        }
    }

    /// Two processes of the extension, the app, and messages that reach each of them; any of them is ended before any
    /// of its writes.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func whoeverWritesAndEndsNothingFallsAndNothingIsLost(_ seed: UInt64) throws {
        var random = Seed(seed)
        for _ in 0..<25 {
            let scratch = try Scratch()
            try #require(unsafe mkdir(scratch.store, 0o700) == 0)
            let keychain = ModelKeychain()
            let store = KeychainKeyStore(items: keychain.process("group"), accessGroup: "group")
            let device = try store.generateDeviceKey(topic: .app, at: start).publicKey
            try store.pinProvider(provider.publicKey, topic: .app, at: start)
            let databases = (0..<2).map { _ in ExtensionDatabase(in: scratch.store) }
            var stored = LearnedTrust()
            var seen = LearnedTrust()
            for _ in 0..<12 {
                let certificate = certificates[Int(random.next() % UInt64(certificates.count))]
                let database = databases[Int(random.next() % 2)]
                let keys = ExtensionKeys(keys: store, database: database)
                switch random.next() % 5 {
                case 0:
                    try store.settle(
                        openedWith: device, provider: provider.publicKey, certificate: certificate, topic: .app,
                        at: start)
                    seen.merge(LearnedTrust(certificate))
                case 1, 2:
                    try keys.settle(
                        openedWith: device, provider: provider.publicKey, certificate: certificate, topic: .app,
                        at: start)
                    seen.merge(LearnedTrust(certificate))
                case 3: _ = try database.merge(into: store, at: start)
                default:
                    // The app is ended between two of the merge's writes.
                    for _ in 0..<random.next() % 2 { keychain.before(.update) {} }
                    keychain.before(.update) { keychain.fail(.update, with: -50) }
                    keychain.before(.add) { keychain.fail(.add, with: -50) }
                    _ = try? database.merge(into: store, at: start)
                    keychain.forgetInterruptions()
                }
                let inStore = try store.trust(for: .app, account: "default").learned
                #expect(inStore.floor >= stored.floor)
                stored = inStore
                #expect(try keys.trust(for: .app, account: "default").learned == seen)
            }
            _ = try databases[0].merge(into: store, at: start)
            #expect(try store.trust(for: .app, account: "default").learned == seen)
        }
    }
}

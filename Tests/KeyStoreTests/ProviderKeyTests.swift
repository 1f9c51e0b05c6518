import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider's keys, one name per app.
struct ProviderKeyTests {

    @Test(arguments: StoreKind.allCases)
    func aStoreHoldsAKeyForEachApp(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        #expect(code { try store.providerKey() } == .unknownName)
        let first = try store.generateProviderKey(named: "one", topic: .app, at: start)
        let key = ProviderKey()
        let second = try store.importProviderKey(key, named: "two", topic: .other, at: start + 1)
        #expect(first.isDefault && first.topic?.bundleID == "com.example.app")
        #expect(first.createdAt == start && first.keyID == first.publicKey.id)
        #expect(!second.isDefault && second.publicKey == key.publicKey)
        #expect(try store.providerKeys() == [first, second])
        #expect(try store.providerKey() == first)
        #expect(try store.providerSecret(named: "two").seed == key.seed)
        #expect(code { try store.generateProviderKey(named: "one", at: start) } == .nameTaken)
        try store.setDefaultProviderKey(named: "two")
        #expect(try store.providerKey().publicKey == key.publicKey)
        #expect(try store.providerKeys().map(\.isDefault) == [false, true])
        #expect(code { try store.setDefaultProviderKey(named: "three") } == .unknownName)
    }

    @Test func aNameThatIsNotAllowedIsRefused() throws {
        let store = try Home(.memory).store
        for name in ["", "line\nbreak", String(repeating: "x", count: 256)] + invisible.map({ "a\($0)b" }) {
            #expect(code { try store.generateProviderKey(named: name, at: start) } == .invalidName)
            #expect(code { try store.importProviderKey(ProviderKey(), named: name, at: start) } == .invalidName)
            #expect(
                code { try store.addOfflineProviderKey(ProviderKey(), named: name, topic: .app, at: start) }
                    == .invalidName)
        }
        #expect(try store.generateProviderKey(named: "Łukasz 🔑", at: start).name == "Łukasz 🔑")
    }

    @Test func aKeyOrItsIDIsThereOnce() throws {
        let store = try Home(.memory).store
        let key = ProviderKey()
        _ = try store.importProviderKey(key, named: "one", at: start)
        #expect(code { try store.importProviderKey(key, named: "two", at: start) } == .keyIDTaken)
        #expect(code { try store.addOfflineProviderKey(key, named: "two", topic: .app, at: start) } == .keyIDTaken)
    }

    @Test func aKeyIsRemovedWithAllThatBelongsToIt() throws {
        let home = try Home()
        let store = home.store
        _ = try store.generateProviderKey(named: "one", topic: .app, at: start)
        try store.rotateSigningKey(at: start)
        _ = try store.requestCertificate(at: start)
        _ = try store.answerSecret(at: start)
        let sealed = try #require(try home.sealed())
        let kept = try store.generateProviderKey(named: "two", at: start)
        #expect(code { try store.removeProviderKey(named: "three") } == .unknownName)
        #expect(try store.removeProviderKey(named: "one").name == "one")
        #expect(try store.providerKeys().map(\.publicKey) == [kept.publicKey])
        #expect(try store.providerKey().name == "two", "the only one left is the default")
        #expect(try store.provider().secrets.count == 1 && !home.holds(sealed))
        #expect(store.check().allSatisfy { $0.severity == .note })
    }
}

/// Characters of the categories Cc, Cf, Zl and Zp.
let invisible = ["\u{7}", "\u{85}", "\u{AD}", "\u{200B}", "\u{200D}", "\u{202E}", "\u{2028}", "\u{2029}", "\u{E0061}"]

import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Small texts that a program keeps in the store.
struct SettingTests {
    @Test(arguments: StoreKind.allCases)
    func aTextIsKept(_ kind: StoreKind) throws {
        let home = try Home(kind)
        #expect(try home.store.setting("title") == nil)
        try home.store.setSetting("title", "New message 🚲")
        try home.store.setSetting("topic", "")
        #expect(try home.store.setting("title") == "New message 🚲")
        #expect(try home.store.setting("topic") == "")
        try home.store.setSetting("title", "Other")
        #expect(try home.store.setting("title") == "Other")
        try home.store.setSetting("title", nil)
        try home.store.setSetting("title", nil)
        #expect(try home.store.setting("title") == nil)
        if kind == .disk { #expect(try home.reopened().setting("topic") == "") }
    }

    /// The store keeps its own settings under names with a dot.
    @Test(arguments: ["", "default.device", "a b", "é", String(repeating: "x", count: 256)])
    func anotherNameIsRefused(_ name: String) throws {
        let store = try Home(.memory).store
        #expect(code { try store.setting(name) } == .invalidName)
        #expect(code { try store.setSetting(name, "x") } == .invalidName)
    }

    @Test func aValueHasAtMost4096Bytes() throws {
        let store = try Home(.memory).store
        try store.setSetting("title", String(repeating: "x", count: 4096))
        #expect(code { try store.setSetting("title", String(repeating: "x", count: 4097)) } == .invalidName)
        #expect(try store.setting("title")?.utf8.count == 4096)
    }
}

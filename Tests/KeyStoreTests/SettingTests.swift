import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Small texts that a program keeps in the store.
struct SettingTests {
    @Test(arguments: StoreKind.allCases)
    func aTextIsKept(_ kind: StoreKind) throws {
        let home = try Home(kind)
        #expect(try home.store.setting(named: "title") == nil)
        try home.store.setSetting("New message 🚲", named: "title")
        try home.store.setSetting("", named: "topic")
        #expect(try home.store.setting(named: "title") == "New message 🚲")
        #expect(try home.store.setting(named: "topic") == "")
        try home.store.setSetting("Other", named: "title")
        #expect(try home.store.setting(named: "title") == "Other")
        try home.store.setSetting(nil, named: "title")
        try home.store.setSetting(nil, named: "title")
        #expect(try home.store.setting(named: "title") == nil)
        if kind == .disk { #expect(try home.reopened().setting(named: "topic") == "") }
    }

    @Test func aValueHasAtMost4096Bytes() throws {
        let store = try Home(.memory).store
        try store.setSetting(String(repeating: "x", count: 4096), named: "title")
        #expect(code { try store.setSetting(String(repeating: "x", count: 4097), named: "title") } == .invalidName)
        #expect(try store.setting(named: "title")?.utf8.count == 4096)
    }
}

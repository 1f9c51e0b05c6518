import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

/// Accounts on two servers in one app: a server that one account trusts cannot sign for another.
@Suite struct AccountTrustTests {
    static let accounts = ["anna", "ben"]

    /// Anna's server, and Ben's.
    let servers: [Provider]
    let phone: Phone

    init() throws {
        servers = try Self.accounts.map { _ in try Provider() }
        phone = try Phone(hasKey: false)
        for (account, server) in zip(Self.accounts, servers) {
            _ = try phone.store.generateDeviceKey(named: account, topic: .app, at: .start)
            try phone.store.pinProvider(server.key.publicKey, for: account, topic: .app, at: .start)
        }
        // Both know both phones' keys: they are public.
        for server in servers {
            for account in Self.accounts {
                try server.store.addDevice(phone.record(named: account), id: account, at: .start)
            }
        }
    }

    enum Opener: CaseIterable { case app, `extension` }

    private func code(_ push: Bytes, _ opener: Opener) -> String {
        let keys = ExtensionKeys(keys: phone.store, database: phone.database)
        let receiver =
            switch opener {
            case .app: phone.receiver()
            case .extension: NotificationReceiver(keys: keys, effects: keys, database: phone.database, topic: .app)
            }
        return receiver.receive(push, requestID: nil, at: .start).code
    }

    @Test(arguments: Opener.allCases) func aServerSignsForItsOwnAccountOnly(_ opener: Opener) throws {
        for rotations in 0..<3 {
            for (own, server) in zip(Self.accounts, servers) {
                if rotations > 0 { try server.rotate(stolen: rotations == 2, at: .start) }
                for account in Self.accounts {
                    let push = try server.push(to: account, at: .start)
                    #expect(code(push, opener) == (account == own ? "opened" : "authentication-failed"))
                }
            }
        }
        _ = try phone.database.merge(into: phone.store, at: .start)
        for (account, server) in zip(Self.accounts, servers) {
            let trust = try phone.store.trust(for: .app, account: account)
            #expect(trust.pinned == [try server.key.publicKey])
            #expect(trust.pins[0].learned.certificate == (try server.certificate))
        }
    }

    /// Both accounts are at one server: what one learns, the other knows, so that a thief is ended for both.
    @Test(arguments: Opener.allCases) func whatOneAccountLearnsTheOtherKnows(_ opener: Opener) throws {
        let server = servers[0]
        try phone.store.setPins([ProviderPin(server.key.publicKey)], for: "ben", topic: .app, at: .start)
        let stolen = try server.push(to: "ben", at: .start)
        try server.rotate(stolen: true, at: .start)
        #expect(code(try server.push(to: "anna", at: .start), opener) == "opened")
        #expect(code(stolen, opener) == "authentication-failed")
        // Also when that account is gone.
        try phone.store.removeAccount("anna")
        #expect(code(stolen, opener) == "authentication-failed")
        #expect(code(try server.push(to: "ben", at: .start), opener) == "opened")
    }

    /// The server's own two keys, while a release changes them.
    @Test(arguments: Opener.allCases) func anAccountMayHaveTwoPins(_ opener: Opener) throws {
        try phone.store.pinProvider(servers[1].key.publicKey, for: "anna", topic: .app, at: .start)
        for server in servers { #expect(code(try server.push(to: "anna", at: .start), opener) == "opened") }
        #expect(code(try servers[0].push(to: "ben", at: .start), opener) == "authentication-failed")
        #expect(throws: KeyStoreError(.tooManyPins, "")) {
            try phone.store.pinProvider(ProviderKey().publicKey, for: "anna", topic: .app, at: .start)
        }
        try phone.store.unpinProvider(servers[0].key.publicKey, for: "anna")
        #expect(code(try servers[0].push(to: "anna", at: .start), opener) == "authentication-failed")
    }

    @Test(arguments: Opener.allCases) func anAccountWithoutAPinOpensNothing(_ opener: Opener) throws {
        try phone.store.unpinProvider(servers[0].key.publicKey, for: "anna")
        for server in servers {
            #expect(code(try server.push(to: "anna", at: .start), opener) == "authentication-failed")
        }
        #expect(code(try servers[1].push(to: "ben", at: .start), opener) == "opened")
    }
}

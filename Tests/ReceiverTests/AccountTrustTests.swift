import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

/// Accounts on two servers in one app: a server that one account trusts cannot sign for another.
@Suite struct AccountTrustTests {
    private static let accounts = ["anna", "ben"]

    /// Anna's server, and Ben's.
    let servers: [Provider]
    let phone: Phone

    init() throws {
        servers = try Self.accounts.map { _ in try Provider() }
        phone = try Phone(hasKey: false)
        for (account, server) in zip(Self.accounts, servers) {
            let key = try server.key.publicKey
            try phone.store.edit { state in
                try state.add(to: account, topic: .app, at: .start)
                try state.pin(ProviderPin(key), for: account)
            }
        }
        // Both know both phones' keys: they are public.
        for server in servers {
            for account in Self.accounts {
                try server.store.addDevice(phone.record(named: account), id: account, at: .start)
            }
        }
    }

    private func code(_ push: Bytes) -> String { phone.receive(push, at: .start).code }

    @Test func aServerSignsForItsOwnAccountOnly() throws {
        for rotations in 0..<3 {
            for (own, server) in zip(Self.accounts, servers) {
                if rotations > 0 { try server.rotate(stolen: rotations == 2, at: .start) }
                for account in Self.accounts {
                    let push = try server.push(to: account, at: .start)
                    #expect(code(push) == (account == own ? "opened" : "authentication-failed"))
                }
            }
        }
        for (account, server) in zip(Self.accounts, servers) {
            let trust = try phone.store.state().trust(for: .app, account: account)
            #expect(trust.pinned == [try server.key.publicKey])
            #expect(trust.pins[0].learned.certificate == (try server.certificate))
        }
    }

    @Test func anAccountWithoutAPinOpensNothing() throws {
        let key = try servers[0].key.publicKey
        try phone.store.edit { $0.unpin(key, for: "anna") }
        for server in servers {
            #expect(code(try server.push(to: "anna", at: .start)) == "authentication-failed")
        }
        #expect(code(try servers[1].push(to: "ben", at: .start)) == "opened")
    }
}

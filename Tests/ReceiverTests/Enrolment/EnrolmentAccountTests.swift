import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// A second account on one phone, and what remains of one that has logged out. [D-51]
@Suite struct EnrolmentAccountTests {
    private let provider: Provider
    private let phone = Installation()

    init() throws {
        provider = try Provider()
        for account in ["second", "default"] {
            phone.account = account
            for _ in 0..<2 { try phone.launch(with: provider) }
        }
    }

    @Test func eachAccountIsADevice() throws {
        #expect(try provider.devices.count == 2)
        for account in ["default", "second"] {
            phone.account = account
            #expect(try phone.hears(provider) && phone.pins.count == 1 && phone.launch(with: provider) == "nothing")
        }
    }

    /// The keys go at once, without a grace and without a network; before, the end was signed, which leaves in the same write.
    @Test func aLogOutSignsTheEndAndDeletesTheKeys() throws {
        let (device, push) = (try phone.device, try provider.push(to: phone.device, at: .start))
        let writes = phone.store.writes
        for _ in 0..<2 {
            try phone.logOut()
            #expect(try phone.keys == [] && phone.ends == [device] && phone.pins == [])
        }
        #expect(phone.store.writes == writes + 1)
        #expect(try phone.receive(push) == "unknown-recipient-key")
        // The other account goes on, and tells the provider.
        phone.account = "second"
        #expect(try phone.launch(with: provider) == "nothing")
        #expect(try provider.devices.map(\.id) == [phone.device] && phone.ends == [] && phone.hears(provider))
        // A phone that logs in again is a new device.
        phone.account = "default"
        #expect(try phone.launch(with: provider) == "register(first)" && phone.device != device)
    }

    @Test(arguments: [false, true]) func aLogOutThatTheStoreInterruptsChangesNothing(writesOnly: Bool) throws {
        let state = try phone.state
        phone.store.fail(with: KeyStoreError(.storeLocked, ""), writesOnly: writesOnly)
        #expect(throws: KeyStoreError(.storeLocked, "")) { try phone.logOut() }
        phone.store.fail(with: nil)
        #expect(try phone.state == state)
        try phone.logOut()
        #expect(try phone.keys == [] && phone.ends.count == 1)
    }

    /// A provider that is never reached must not make the state grow. Each end keeps what was signed, and where it goes.
    @Test func theOldestOfTooManyEndsIsGivenUp() throws {
        let address = "https://home.example.net/push"
        phone.account = "third"
        phone.terms = EnrolmentTerms(topic: .app, trust: .provider(try provider.key.publicKey))
        var devices: [String] = []
        for _ in 0..<65 {
            _ = try phone.request()
            devices.append(try phone.device)
            try phone.store.edit { $0.setAddress(address, of: "third") }
            try phone.logOut()
        }
        #expect(try Set(devices).count == 65 && phone.ends == Array(devices.dropFirst()))
        #expect(try phone.state.ends.allSatisfy { $0.account == "third" && $0.address == address })
    }
}

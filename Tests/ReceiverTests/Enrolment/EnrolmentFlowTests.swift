import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// The events in the life of an installation, during which its pushes always open.
@Suite(.serialized) struct EnrolmentFlowTests {
    // MARK: First run, reinstall, restore

    @Test(arguments: StoreKind.allCases) func firstRun(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        #expect(try phone.launch(with: provider) == "register")
        #expect(phone.results == [EnrolmentResult(key: .acknowledged, provider: .pinned)])
        let device = try #require(provider.devices.first)
        #expect(device.generation == 1)
        #expect(device.topic == .app)
        #expect(try phone.keys().map(\.topic) == [.app])
        #expect(try phone.receive(provider.push(to: device.id, at: .start)) == "opened")
        // The record that was sent could not name the pin, which came with the reply.
        #expect(try phone.launch(with: provider) == "register-again(provider-changed)")
        #expect(try phone.launch(with: provider) == "nothing")
        #expect(try provider.devices.map(\.pinnedProvider) == [provider.key.publicKey])
    }

    /// The Keychain survives the app's removal, and the file in its container does not.
    @Test(arguments: StoreKind.allCases) func reinstall(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let old = (device: try phone.device(), keys: try phone.keys())
        phone.file = nil
        #expect(try phone.launch(with: provider) == "purge-leftovers, register")
        #expect(try phone.device() != old.device)
        #expect(try phone.keys().count == 1)
        #expect(try phone.keys() != old.keys)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        #expect(try phone.receive(provider.push(to: old.device, at: .start)) == "unknown-recipient-key")
    }

    /// A pin alone is a leftover too: whom an earlier installation trusted is not trusted now.
    @Test(arguments: StoreKind.allCases) func whatAnEarlierInstallationBelievedIsForgotten(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.store.pinProvider(ProviderKey().publicKey, at: .start)
        #expect(try phone.launch(with: provider) == "purge-leftovers, register")
        #expect(try phone.pins == [provider.key.publicKey])
    }

    /// The state file is in the backup, the keys are not; the phone that the backup was made of lives on.
    @Test(arguments: StoreKind.allCases) func restoreToANewPhone(_ kind: StoreKind) throws {
        let provider = try Provider()
        let old = try Installation(kind)
        try old.launch(with: provider)
        let new = try Installation(kind)
        new.file = old.file
        // The old one goes on to a later generation than the backup knows of.
        let later = Timestamp.start.plus(days: 31)
        #expect(try old.launch(with: provider, at: later).contains("key-is-old"))

        #expect(try new.launch(with: provider, at: later) == "register-again(keys-lost)")
        #expect(new.results.map(\.key) == [.acknowledged])
        #expect(try provider.devices.map(\.generation).sorted() == [1, 2])
        for phone in [old, new] {
            #expect(try phone.receive(provider.push(to: phone.device(), at: later), at: later) == "opened")
        }
        #expect(try old.receive(provider.push(to: new.device(), at: later), at: later) == "unknown-recipient-key")
        #expect(try new.launch(with: provider, at: later) == "register-again(provider-changed)")
    }

    /// State and keys are back as they were, and the provider has gone on: an operator's record has a later key.
    @Test(arguments: StoreKind.allCases) func restoreToTheSamePhone(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let old = try phone.device()
        let newer = DeviceRegistration(publicKey: DeviceKey().publicKey, topic: .app, generation: 2, createdAt: .start)
        try provider.store.addDevice(newer, id: old, at: .start)

        phone.circumstances.pushToken = [1]
        #expect(try phone.launch(with: provider) == "register-again(provider-changed, token-changed)")
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try phone.device() == old && provider.devices.map(\.generation) == [1])
        #expect(try phone.receive(provider.push(to: old, at: .start)) == "opened")
        #expect(try phone.keys().count == 1)
        #expect(try phone.launch(with: provider) == "nothing")
    }

    // MARK: Versions

    /// The earlier version destroys nothing, and the later one goes on where it was.
    @Test(arguments: StoreKind.allCases) func appDowngrade(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let (file, writes) = (phone.file, phone.store.writes)

        phone.file = Bytes(#"{"version":2,"everything":"is different"}"#.utf8)
        guard case .blocked(let obstacle) = phone.reconcile(at: .start) else { throw Unexpected() }
        #expect(obstacle.code == "newer-enrolment")
        phone.file = file
        phone.store.fail(with: KeyStoreError(.newerVersion, "a newer version has written this"))
        guard case .blocked(let obstacle) = phone.reconcile(at: .start) else { throw Unexpected() }
        #expect(obstacle.code == "newer-version")
        phone.store.fail(with: nil)
        #expect(phone.store.writes == writes)

        try phone.launch(with: provider)
        for version in ["0.9", "1.0"] {
            phone.circumstances.appVersion = AppVersion(version)
            #expect(try phone.launch(with: provider) == "register-again(app-version-changed)")
            #expect(try phone.launch(with: provider) == "nothing")
        }
        #expect(try phone.keys().count == 1)
    }

    // MARK: Changes by the user and by Apple

    @Test(arguments: StoreKind.allCases) func notificationPermissionOffAndOn(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        phone.circumstances.alertsAreShown = false
        #expect(try phone.launch(with: provider) == "register-again(alerts-changed), notice(alerts-off)")
        #expect(try phone.launch(with: provider) == "notice(alerts-off)")
        // Apple gives another token afterwards, at some time.
        phone.circumstances.alertsAreShown = true
        phone.circumstances.pushToken = [1, 2, 3]
        #expect(try phone.launch(with: provider) == "register-again(token-changed, alerts-changed)")
        #expect(try phone.launch(with: provider) == "nothing")
        #expect(try phone.keys().count == 1)
    }

    @Test(arguments: StoreKind.allCases) func apnsTokenChanged(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        phone.circumstances.pushToken = nil
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        #expect(try phone.launch(with: provider) == "nothing")
        for token: Bytes in [[0xA7], [0xA7, 0x00]] {
            phone.circumstances.pushToken = token
            #expect(try phone.launch(with: provider) == "register-again(token-changed)")
            #expect(try phone.launch(with: provider) == "nothing")
        }
        // Not known yet at this launch is not another one.
        phone.circumstances.pushToken = nil
        #expect(try phone.launch(with: provider) == "nothing")
    }

    // MARK: Keys

    @Test(arguments: StoreKind.allCases) func deviceKeyOlderThanThePolicy(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        phone.policy.repeatAfter = .days(365)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        let inFlight = try provider.push(to: phone.device(), at: .start)
        #expect(try phone.launch(with: provider, at: .start.plus(days: 30)) == "nothing")
        let later = Timestamp.start.plus(days: 30, milliseconds: 1)
        #expect(try phone.launch(with: provider, at: later) == "register-again(key-is-old)")
        #expect(try phone.keys().map(\.state) == [.retiring, .active])
        #expect(try provider.devices.map(\.generation) == [2])
        #expect(try phone.receive(inFlight, at: .start.plus(days: 30)) == "opened")
        #expect(try phone.receive(provider.push(to: phone.device(), at: later), at: later) == "opened")
        #expect(try phone.launch(with: provider, at: later) == "nothing")

        let afterGrace = later.plus(days: 31)
        phone.policy.keyAge = nil
        #expect(try phone.launch(with: provider, at: afterGrace) == "nothing")
        #expect(try phone.launch(with: provider, at: afterGrace.plus(milliseconds: 1)) == "purge-retired")
        #expect(try phone.keys().map(\.generation) == [2])
    }

    /// The provider seals to a key that the phone has not heard acknowledged; it is pending, and opens.
    @Test(arguments: StoreKind.allCases) func pendingKeyWhoseReplyWasLost(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        phone.policy.repeatAfter = .days(365)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        let later = Timestamp.start.plus(days: 31)
        #expect(try phone.launch(with: provider, .replyLost, at: later) == "register-again(key-is-old)")
        #expect(try phone.keys().map(\.state) == [.active, .pending])
        let push = try provider.push(to: phone.device(), at: later)

        #expect(try phone.launch(with: provider, .recordLost, at: later) == "register-again(key-not-acknowledged)")
        #expect(try phone.keys().map(\.state) == [.active, .pending])
        #expect(try phone.launch(with: provider, at: later) == "register-again(key-not-acknowledged)")
        #expect(try phone.keys().map(\.state) == [.retiring, .active])
        #expect(try phone.receive(push, at: later) == "opened")
        #expect(try phone.launch(with: provider, at: later) == "nothing")
    }

    /// The first message that opens with it makes a pending key active; the provider is asked all the same.
    @Test(arguments: StoreKind.allCases) func pendingKeyThatAMessageHasConfirmed(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let later = Timestamp.start.plus(days: 31)
        try phone.launch(with: provider, .replyLost, at: later)
        #expect(try phone.receive(provider.push(to: phone.device(), at: later), at: later) == "opened")
        #expect(try phone.keys().map(\.state) == [.retiring, .active])
        #expect(try phone.launch(with: provider, at: later).hasPrefix("register-again(key-not-acknowledged"))
        #expect(try phone.launch(with: provider, at: later) == "nothing")
    }

    @Test(arguments: StoreKind.allCases) func anAcknowledgementThatTheStoreDidNotTakeIsConfirmedLater(
        _ kind: StoreKind
    ) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        phone.policy.repeatAfter = .days(365)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        let later = Timestamp.start.plus(days: 31)
        try phone.launch(with: provider, .storeFailsAtReply, at: later)
        let pending = try #require(try phone.keys().last)
        #expect(pending.state == .pending)
        #expect(try phone.launch(with: provider, at: later) == "confirm(\(pending.keyID))")
        #expect(try phone.keys().map(\.state) == [.retiring, .active])
        #expect(try phone.launch(with: provider, at: later) == "nothing")
    }

    // MARK: Time

    @Test(arguments: StoreKind.allCases) func aProviderMayHaveLostWhatItKnew(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        #expect(try phone.launch(with: provider, at: .start.plus(days: 1).subtracting(milliseconds: 1)) == "nothing")
        _ = try provider.store.removeDevice(id: phone.device(), at: .start)
        // A record that was under way when the operator removed the device does not bring it back; one of the day after does.
        let later = Timestamp.start.plus(days: 1)
        #expect(try phone.exchange(with: provider, at: later) == .refused(.staleRecord))
        #expect(try phone.launch(with: provider, at: later) == "register-again(time-passed)")
        #expect(try phone.receive(provider.push(to: phone.device(), at: later), at: later) == "opened")
        // A clock that was set back.
        #expect(try phone.launch(with: provider, at: .start) == "register-again(time-passed)")
        #expect(try phone.launch(with: provider, at: .start) == "nothing")
    }
}

/// A test's own failure.
struct Unexpected: Error {}

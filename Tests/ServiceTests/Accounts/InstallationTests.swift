import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone
import Testing
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

/// A launch that finds another installation's keys, a phone that is locked, damage, a newer version,
/// another app.
@Suite(.serialized, .oneAtATime) struct InstallationTests {
    private let app: TestApp
    private let server: TestServer

    init() throws {
        app = try TestApp()
        server = app.server
    }

    private var item: ContiguousArray<UInt8>? { app.phone.keychain.data.first }

    /// The extension's files, with their bytes.
    private var files: [String: Data] {
        get throws {
            var files: [String: Data] = [:]
            let directory = app.phone.directory
            for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
                files[name] = FileManager.default.contents(atPath: directory.appendingPathComponent(name).path)
            }
            return files
        }
    }

    private func registered(_ names: [String] = ["anna"]) async -> PushAccounts {
        let accounts = app.accounts()
        for outcome in await accounts.update(names, token: TestApp.token, alertsAreShown: true).values {
            #expect(outcome.status == .registered)
        }
        return accounts
    }

    // MARK: Another installation

    @Test func anotherInstallationIsAnotherDeviceAndKeepsWhatWasLearned() async throws {
        _ = try server.signs(epoch: 7)
        _ = await registered(["anna", "ben"])
        let devices = server.with { $0.devices.map(\.id) }
        let trust = try app.state.trust(in: server.key.publicKey, for: TestPhone.topic)
        #expect(trust.pins.first?.learned.floor == 7)
        try FileManager.default.removeItem(at: app.mark.url)

        let accounts = await registered()
        #expect(await eventually { server.users == ["anna"] && (try? app.state.ends) == [] })
        #expect(server.with { $0.devices.allSatisfy { !devices.contains($0.id) } })
        #expect(try app.names == ["anna"])
        #expect(try app.state.trust(in: server.key.publicKey, for: TestPhone.topic) == trust)
        withExtendedLifetime(accounts) {}
    }

    /// Before the first unlock a launch of the app in the background decides nothing; the mark is readable, and is
    /// the same.
    @Test(arguments: [false, true]) func beforeTheFirstUnlockNothingIsDecided(_ isOther: Bool) async throws {
        _ = await registered()
        let (item, requests, device) = (item, server.requests, server.record("anna")?.deviceID)
        if isOther { try FileManager.default.removeItem(at: app.mark.url) }
        app.phone.keychain.restart()
        let accounts = app.accounts()
        #expect(await accounts.update("anna").problem == "later store-locked")
        let mark = try app.mark.read()
        await accounts.resume()
        #expect(self.item == item && server.requests == requests)
        app.phone.keychain.unlock()
        #expect(await accounts.update("anna").status == .registered)
        #expect(try app.mark.read() == mark)
        #expect((server.record("anna")?.deviceID == device) == !isOther)
    }

    @Test func aMarkThatCannotBeReadDecidesNothing() async throws {
        _ = await registered()
        let item = item
        try FileManager.default.removeItem(at: app.mark.url)
        try FileManager.default.createSymbolicLink(at: app.mark.url, withDestinationURL: app.mark.url)
        let accounts = app.accounts()
        #expect(await accounts.update("anna").problem == "later input-output")
        #expect(self.item == item)
        // A log-out needs none.
        try await accounts.logOut("anna")
        #expect(try app.names == [])
    }

    // MARK: Another app

    /// A debug build with a copied topic would use the keys and files of the app.
    @Test func aVariantWithACopiedTopicChangesNothing() async throws {
        let accounts = await registered()
        let file = app.phone.folder.appendingPathComponent("a.txt")
        try Data([1]).write(to: file)
        let shared = SharedAttachments(directory: app.phone.directory)
        try shared.share([file], for: "1", account: AccountTag(of: "anna"))
        let (item, requests, files) = (item, server.requests, try files)
        try #require(files.keys.contains { $0.hasSuffix("a.txt") })

        let variant = app.accounts { $0.bundleID = { "com.example.app.debug" } }
        let outcome = await variant.update("ben")
        #expect(outcome.problem == "blocked not-configured")
        #expect(outcome.description.contains("the topic is com.example.app, and this app is com.example.app.debug"))
        let code = try app.web.pairs("ben", with: server)
        #expect(await variant.pair(code, as: "ben").problem == "blocked not-configured")
        await variant.resume()
        let error = await #expect(throws: LogOutProblem.self) { try await variant.logOut("anna") }
        #expect(error?.description.hasPrefix("not-configured") == true)
        #expect(try self.item == item && server.requests == requests && self.files == files && app.web.urls == [])
        // The app itself logs out.
        try await accounts.logOut("anna")
        #expect(try app.names == [] && !self.files.keys.contains { $0.hasSuffix("a.txt") })
    }

    // MARK: What is stored

    /// To the first that hears anything, whoever has found the damage.
    @Test(arguments: [false, true]) func aDamagedItemBeginsAnewAndSaysSo(_ logsOut: Bool) async throws {
        _ = await registered(["anna", "ben"])
        app.phone.keychain.replaceData { ContiguousArray($0.dropLast()) }
        let accounts = app.accounts()
        if logsOut { try await accounts.logOut("ben") } else { await accounts.resume() }
        let outcomes = await accounts.update(["anna", "ben"], token: TestApp.token, alertsAreShown: true)
        #expect(outcomes.values.allSatisfy { $0.status == .registered && $0.notices == ["damaged-enrolment"] })
        #expect(await accounts.update("anna").notices == [])
        #expect(try app.names == ["anna", "ben"])
    }

    /// The reply is to a device that the phone does not know any more, and which ends.
    @Test func damageMeanwhileHoldsNobodyUp() async throws {
        server.name(PushKey().publicKey, to: "anna")
        let (accounts, gate) = (app.accounts { $0.relay = PushRelay(ModelRelay.origin) }, Gate())
        server.gate = gate
        async let outcome = accounts.update("anna")
        #expect(await gate.hasVisitors())
        app.phone.keychain.replaceData { ContiguousArray($0.dropLast()) }
        server.gate = nil
        gate.open()
        #expect(await outcome.problem == "unreachable the reply is not about the key that was sent")
        #expect(await outcome.notices == ["damaged-enrolment"])
        #expect(await accounts.update("anna").status == .registered)
        let grant = server.record("anna")?.grant
        #expect(app.web.with { $0.isLive(grant) })
        #expect(await eventually { server.users == ["anna"] })
    }

    /// A grant that the relay has issued for the lost state ends, with all that there was before.
    @Test func damageWhileTheRelayIsAskedLosesNoGrant() async throws {
        server.name(PushKey().publicKey, to: "anna")
        let (accounts, gate) = (app.accounts { $0.relay = PushRelay(ModelRelay.origin) }, Gate())
        app.web.gate = gate
        async let outcome = accounts.update("anna")
        #expect(await gate.hasVisitors())
        app.phone.keychain.replaceData { ContiguousArray($0.dropLast()) }
        app.web.gate = nil
        gate.open()
        #expect(await outcome.status == .registered)
        #expect(await outcome.notices == ["damaged-enrolment"])
        let live = app.web.with { $0.issued.filter(\.isLive).map(\.text) }
        #expect(live == [server.record("anna")?.grant])
    }

    @Test func aNewerVersionsItemIsLeftAlone() async throws {
        _ = await registered()
        app.phone.keychain.replaceData { data in
            var data = data
            // The version, after the revision.
            data[16] = 2
            return data
        }
        let (item, requests, accounts) = (item, server.requests, app.accounts())
        #expect(await accounts.update("anna").problem == "blocked newer-version")
        await #expect(throws: LogOutProblem.self) { try await accounts.logOut("anna") }
        #expect(self.item == item && server.requests == requests)
    }

    // MARK: Writes

    /// The process could end before the answer comes, and would not know what it has sent.
    @Test func whatCannotBeStoredIsNotSent() async throws {
        app.phone.keychain.fail(.add, with: -34)
        #expect(await app.accounts().update("anna").problem == "later input-output")
        #expect(server.requests == 0)
        app.phone.keychain.fail(.add, with: nil)
        #expect(await app.accounts().update("anna").status == .registered)
    }

    /// An account that waits for the same relay has nothing left to wait for.
    @Test func aGrantThatCannotBeStoredHoldsNobodyUp() async throws {
        let (accounts, gate) = (app.accounts { $0.relay = PushRelay(ModelRelay.origin) }, Gate())
        for user in ["anna", "ben"] { server.name(PushKey().publicKey, to: user) }
        app.web.gate = gate
        async let outcomes = accounts.update(["anna", "ben"], token: TestApp.token, alertsAreShown: true)
        #expect(await gate.hasVisitors())
        await eventually { server.users == ["anna", "ben"] }
        await allTurns()
        app.phone.keychain.fail(.update, with: -34)
        gate.open()
        #expect(await outcomes.values.map(\.problem) == ["later input-output", "later input-output"])
        app.phone.keychain.fail(.update, with: nil)
        app.web.gate = nil
        let again = await accounts.update(["anna", "ben"], token: TestApp.token, alertsAreShown: true)
        #expect(again.values.allSatisfy { $0.status == .registered })
    }

    /// Another process has stored something meanwhile: the change is made again, and what was made before is never
    /// sent.
    @Test func aChangeThatIsRepeatedSendsOneMessage() async throws {
        let (accounts, other) = (await registered(), TestServer())
        let provider = other.key.publicKey
        let certificates = try (3...4).map { try other.signs(epoch: $0).certificate }
        app.wait(.days(1))
        for certificate in certificates {
            app.phone.keychain.before(.update) { [keys = app.phone.keys] in
                _ = try? keys.change { (state) throws(KeyStoreError) in
                    if let certificate { try state.learn(certificate, of: provider, topic: TestPhone.topic) }
                }
            }
        }
        let requests = server.requests
        #expect(await accounts.update("anna").status == .registered)
        #expect(server.requests == requests + 1)
        let trust = try app.state.trust(in: provider, for: TestPhone.topic)
        #expect(trust.pins.first?.learned.certificate == certificates[1])
        #expect(try app.state.account("anna")?.registration?.sequence == server.record("anna")?.sequence)
    }
}

import Foundation
import Pushcrypt
import TestPhone
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

/// An app on a phone, with its server, and the web of relays and codes. Each call of `accounts` is a process of the
/// app.
final class TestApp: Sendable {
    static let token = Data([1, 2, 3])
    /// The time of a test phone.
    static let start = Timestamp(milliseconds: 1_767_225_600_000)

    let phone: TestPhone
    let server = TestServer()
    let web = TestRelay()
    let clock = ManualClock()
    private let time: Locked<Time>

    private final class Time {
        var now: Timestamp
        init(_ now: Timestamp) { self.now = now }
    }

    init() throws {
        phone = try TestPhone()
        // The phone's own key is of no account here.
        try phone.keys.discard()
        time = Locked(Time(phone.now))
    }

    var now: Timestamp { time.withLock { $0.now } }

    func wait(_ interval: Interval) { time.withLock { $0.now = $0.now.adding(interval) } }

    func setClock(_ now: Timestamp) { time.withLock { $0.now = now } }

    /// The mark of the installation.
    var mark: InstallationMark { InstallationMark(url: phone.folder.appendingPathComponent("app/installation")) }

    func accounts(_ change: (inout AccountSettings) -> Void = { _ in }) -> PushAccounts {
        let (phone, mark) = (phone, mark)
        var settings = AccountSettings(
            directory: { phone.directory }, topic: { TestPhone.topic }, trust: { .firstReply })
        settings.store = { phone.keys }
        settings.mark = { try mark.read() }
        settings.bundleID = { TestPhone.topic.bundleID }
        (settings.clock, settings.now, settings.poster) = (clock, { self.now }, web)
        change(&settings)
        return PushAccounts(settings, channel: server)
    }

    var state: DeviceState { get throws { try phone.keys.state() } }

    /// The accounts with keys.
    var names: [String] { get throws { try state.accounts.filter { !$0.keys.isEmpty }.map(\.name) } }

    var pins: [ProviderPublicKey] { get throws { try state.accounts.flatMap(\.pins).map(\.key) } }
}

extension TestApp {
    /// An address of a code without TLS.
    static let home = "http://192.168.1.7:8080/pair"

    /// An app whose account `cabin` is paired.
    func paired(at url: String = ModelPairing.url, hasRelay: Bool = false) async throws -> PushAccounts {
        let accounts = accounts { $0.relay = hasRelay ? PushRelay(ModelRelay.origin) : nil }
        try #require(await accounts.pair(web.pairs("cabin", with: server, at: url), as: "cabin").status == .registered)
        return accounts
    }
}

/// Tests of an app with a relay.
protocol RelayedTests {
    var app: TestApp { get }
}

extension RelayedTests {
    var server: TestServer { app.server }
    var relay: TestRelay { app.web }

    func accounts(_ change: (inout AccountSettings) -> Void = { _ in }) -> PushAccounts {
        app.accounts {
            $0.relay = PushRelay(ModelRelay.origin)
            change(&$0)
        }
    }

    /// An app whose relay has ended what earlier installations left.
    func registered() async -> PushAccounts {
        let accounts = accounts()
        #expect(await accounts.update("rita").status == .registered)
        return accounts
    }

    func grant(_ user: String = "rita") throws -> String {
        let grant = server.record(user)?.grant
        return try #require(grant)
    }

    func isLive(_ grant: String) -> Bool { relay.with { $0.isLive(grant) } }
}

extension PushAccounts {
    /// Updates one account.
    func update(_ account: String, token: Data = TestApp.token) async -> Outcome {
        await update([account], token: token, alertsAreShown: true)[account] ?? Outcome(.loggedOut)
    }

    /// Says what a log-out has left to say.
    func resume() async { _ = await update([], token: TestApp.token, alertsAreShown: true) }

    func pair(_ code: PairingCode, as account: String) async -> Outcome {
        await pair(code, as: account, token: TestApp.token, alertsAreShown: true)
    }
}

extension PushAccounts.Outcome {
    /// The code, or the problem, of one that is not registered.
    var problem: String {
        switch status {
        case .registered: "registered"
        case .refused(let refusal): "refused \(refusal)"
        case .unreachable(let problem): "unreachable \(problem)"
        case .later(let obstacle): "later \(obstacle.code)"
        case .blocked(let obstacle): "blocked \(obstacle.code)"
        case .loggedOut: "logged-out"
        }
    }
}

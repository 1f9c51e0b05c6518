import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone
import Testing
import UserNotifications
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService

/// Variants of an app on one phone, with one Keychain group and one app group. What depends on the environment has
/// its own process.
final class VariantTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-variants-\(UUID())")

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// In every order of six events: no byte of the other's item and folder changes, so no key, response or
    /// certificate is lost.
    @Test func variantsChangeNothingOfEachOther() async {
        await #expect(processExitsWith: .success) { [path = folder.path as String] in try await runInEveryOrder(path) }
    }
}

private func runInEveryOrder(_ folder: String) async throws {
    unsafe setenv("PUSHCRYPT_APP_GROUPS", folder, 1)
    let keychain = ModelKeychain()
    let variants = try ["com.example.app", "com.example.app.beta"].map {
        try Variant(Topic($0), keychain, URL(fileURLWithPath: folder))
    }
    for variant in variants {
        try await variant.toggle()
        try await variant.show()
    }
    let events: [(Int, (Variant) async throws -> Void)] = [
        (0, { await $0.launch() }), (0, { try await $0.show() }), (0, { try await $0.toggle() }),
        (1, { await $0.launch() }), (1, { try await $0.show() }), (1, { try await $0.toggle() }),
    ]
    let order = everyOrder(of: events.count)
    let windows = Set(order.indices.dropLast(5).map { Array(order[$0..<$0 + 6]) }.filter { Set($0).count == 6 })
    #expect(windows.count == 720)
    var changes = [0, 0]
    for (place, number) in order.enumerated() {
        let (own, event) = events[number]
        let before = try variants.map { try $0.bytes }
        try await event(variants[own])
        let after = try variants.map { try $0.bytes }
        #expect(after[1 - own] == before[1 - own], "event \(number) at \(place)")
        if after[own] != before[own] { changes[own] += 1 }
        guard after[1 - own] == before[1 - own] else { return }
    }
    #expect(changes.allSatisfy { $0 > order.count / 6 }, "it changes its own: \(changes)")
    for variant in variants { try await variant.check() }
}

/// A sequence with every order of so many events in it.
private func everyOrder(of count: Int) -> [Int] {
    guard count > 1 else { return [0] }
    let shorter = everyOrder(of: count - 1)
    var sequence: [Int] = []
    for start in 0...(shorter.count - (count - 1)) {
        let order = Array(shorter[start..<start + count - 1])
        guard Set(order).count == count - 1 else { continue }
        let next = order + [count - 1] + order
        let overlap = (0...count).last { sequence.suffix($0).elementsEqual(next.prefix($0)) } ?? 0
        sequence += next.dropFirst(overlap)
    }
    return sequence
}

/// An app, its extension and its server.
private final class Variant {
    private let topic: Topic
    private let keychain: ModelKeychain
    private let group: AppGroup
    private let server: TestServer
    private let accounts: PushAccounts
    private let answers = AnswerSecret()
    private var pushes = 0

    init(_ topic: Topic, _ keychain: ModelKeychain, _ folder: URL) throws {
        (self.topic, self.keychain, server) = (topic, keychain, TestServer(topic))
        group = AppGroup(identifier: "group.com.example", topic: topic)
        _ = try server.signs(epoch: 5)
        let (group, mark) = (group, InstallationMark(url: folder.appendingPathComponent("\(topic)/installation")))
        var settings = AccountSettings(
            directory: { try group.directory() }, topic: { topic }, trust: { .firstReply })
        settings.store = { Self.store(keychain, topic) }
        settings.mark = { try mark.read() }
        settings.bundleID = { topic.bundleID }
        (settings.clock, settings.now) = (ManualClock(), { TestApp.start })
        accounts = PushAccounts(settings, channel: server)
    }

    private static func store(_ keychain: ModelKeychain, _ topic: Topic) -> KeychainDeviceStore {
        KeychainDeviceStore(items: keychain.process("shared"), accessGroup: "shared", topic: topic)
    }

    private var store: KeychainDeviceStore { Self.store(keychain, topic) }

    private var isLoggedIn: Bool { !server.users.isEmpty }

    /// All that there is of the app in what it shares with others.
    var bytes: [String: Data] {
        get throws {
            let directory = try group.directory()
            var all: [String: Data] = [:]
            for name in (try? FileManager.default.subpathsOfDirectory(atPath: directory.path)) ?? [] {
                all[name] = FileManager.default.contents(atPath: directory.appendingPathComponent(name).path)
            }
            keychain.replaceData(topic.bundleID) { data in
                all["item"] = Data(data)
                return data
            }
            return all
        }
    }

    // MARK: Events

    func launch() async {
        try? group.removeWithdrawnNotifications()
        if isLoggedIn { _ = await accounts.update("anna") } else { await accounts.resume() }
    }

    /// A message is shown, which the user can answer, and the user's response is kept.
    func show() async throws {
        guard isLoggedIn else { return }
        pushes += 1
        let (group, topic, keychain) = (group, topic, keychain)
        var configuration = NotificationServiceHandler.Configuration(topic: topic, directory: try group.directory()) {
            Self.store(keychain, topic)
        }
        (configuration.clock, configuration.now) = (ManualClock(), { TestApp.start })
        let push = try server.seal("Hello", to: "anna", answers: answers)
        let request = try TestPhone.request(push, identifier: "\(pushes)")
        let content = try #require(await configuration.show(request))
        #expect(content.body == "Hello")
        let key = try #require(store.state().accounts.first?.keys.last?.publicKey)
        var response = NotificationResponseValue(requestIdentifier: "\(pushes)", action: .open)
        response.mark = content.mark?.message
        try database.responses.keep(response.json, sealedTo: key, at: TestApp.start)
    }

    /// Logs out, or in again.
    func toggle() async throws {
        if isLoggedIn {
            try await accounts.logOut("anna")
            // The answer to the end changes the state, too.
            #expect(await eventually { (try? store.state().ends.isEmpty) == true })
        } else {
            #expect(await accounts.update("anna").status == .registered)
        }
    }

    private var database: ExtensionDatabase {
        get throws { ExtensionDatabase(in: try group.directory().path) }
    }

    // MARK: In the end

    /// Reads what was kept.
    func check() async throws {
        if !isLoggedIn { try await toggle() }
        try await show()
        let kept = try database.responses.responses(openedWith: store, at: TestApp.start)
        let last = try #require(kept.last?.value)
        #expect(last.requestIdentifier == "\(pushes)")
        let mark = try #require(last.mark)
        #expect(try database.answerKeys.key(of: mark, openedWith: store, at: TestApp.start) != nil)
        #expect(try store.state().trust(in: server.key.publicKey, for: topic).pins.first?.learned.floor == 5)
    }
}

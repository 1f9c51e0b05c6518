import Foundation
import ModelKeychain
import Pushcrypt
import UserNotifications

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

/// An app with its extension, and who is logged in.
final class App {
    typealias Bytes = ContiguousArray<UInt8>

    unowned let world: World
    unowned let phone: Phone
    let provider: Provider
    /// The app's number in the ledger; a new one once the Keychain's items are lost.
    private(set) var number: Int
    var folder: TemporaryFolder
    var database: ExtensionDatabase
    private var mark = 1
    private(set) var token: Bytes
    private var registrar = Registrar()
    /// Counts the processes of the app.
    private var process = 0
    /// The number of each user's login.
    private(set) var users: [String: Int] = [:]
    private var devices: [String: Int] = [:]
    /// The notifications that are shown.
    var screen: [Int: UNNotificationContent] = [:]

    init(_ world: World, _ phone: Phone, _ provider: Provider) throws {
        (self.world, self.phone, self.provider) = (world, phone, provider)
        number = world.nextNumber()
        folder = try TemporaryFolder()
        database = ExtensionDatabase(in: folder.path)
        token = world.newToken()
        world.apns.register(self, token.hex)
    }

    var store: KeychainDeviceStore {
        KeychainDeviceStore(items: phone.keychain.process("shared"), accessGroup: "shared", topic: provider.topic)
    }

    var name: String { "phone \(phone.number) \(provider.topic)" }

    var now: Timestamp { world.loop.time(phone.clock) }

    func login(of device: String) -> Int? { devices[device] }

    // MARK: The app's life

    /// Launches the app, which registers whoever is logged in.
    func launch() throws {
        kill()
        world.loop.note("\(name): launch")
        for user in users.keys.sorted() { try handle(.update(account: user, facts)) }
        if users.isEmpty { try handle(.resume(facts)) }
        if !phone.isLocked { respond { await $0.replayKept() } }
    }

    func kill() {
        process += 1
        registrar = Registrar()
        database = ExtensionDatabase(in: folder.path)
    }

    func logIn(_ user: String) throws {
        guard users[user] == nil, !phone.isLocked else { return }
        begin(user)
        world.loop.note("\(name): \(user) logs in as \(users[user] ?? 0)")
        try handle(.update(account: user, facts))
    }

    func logOut(_ user: String) throws {
        guard let login = users[user], !phone.isLocked else { return }
        world.loop.note("\(name): \(user) logs out")
        users[user] = nil
        screen = [:]
        try handle(.logOut(account: user))
        world.ledger.ended(login)
    }

    private func begin(_ user: String) {
        let login = world.nextNumber()
        users[user] = login
        world.ledger.began(login, of: "\(name) \(user)", app: number, at: provider.topic.bundleID)
    }

    func changeToken() {
        world.apns.end(token.hex)
        token = world.newToken()
        world.apns.register(self, token.hex)
    }

    /// The app is removed and installed again, which takes an unlocked phone: the Keychain keeps its items.
    func reinstall() throws {
        guard !phone.isLocked else { return }
        world.loop.note("\(name): installed again")
        mark += 1
        try renew(silently: false)
    }

    func moved() throws {
        world.loop.note("\(name): on another phone")
        world.ledger.moved(number)
        try renew(silently: true)
    }

    private func renew(silently: Bool) throws {
        for login in users.values.sorted() { world.ledger.ended(login, silently: silently) }
        if silently { number = world.nextNumber() }
        changeToken()
        screen = [:]
        if !silently { folder = try TemporaryFolder() }
        kill()
        for user in users.keys.sorted() { begin(user) }
        if !phone.isLocked { try launch() }
    }

    // MARK: Registrations

    private var facts: EnrolmentFacts { EnrolmentFacts(pushToken: token, environment: .production) }

    private var terms: Registrar.Terms {
        Registrar.Terms(
            enrolment: EnrolmentTerms(topic: provider.topic, trust: .firstReply),
            relay: world.usesRelay ? PushRelay(ModelRelay.origin) : nil)
    }

    private func handle(_ event: Registrar.Event) throws {
        var registered: (account: String, device: String)?
        if case .answered(let message, _) = event,
            case .registration(let account, let request, _)? = registrar.underway[message]
        {
            registered = (account, request.record.deviceID ?? "")
        }
        var next = registrar
        let actions: [Registrar.Action]
        do {
            let (terms, facts, mark) = (terms, "\(mark)", registrar)
            actions = try store.change { (state) throws(KeyStoreError) in
                next = mark
                state.begin(installation: facts, terms.topic)
                return next.handle(event, &state, terms, at: now)
            }
        } catch {
            if !phone.isLocked { world.ledger.refused("\(name): \(error)") }
            return kill()
        }
        registrar = next
        learn()
        // Killed after the state was stored, before a message leaves.
        if world.kills, world.loop.chance(5) {
            world.loop.note("\(name): killed")
            return kill()
        }
        for action in actions {
            if case .finish(let account, let outcome) = action {
                world.loop.note("\(name): \(account) \(outcome.status)")
                switch outcome.status {
                case .refused, .blocked: world.ledger.refused("\(name): \(account): \(outcome.status)")
                case .registered:
                    guard let registered, registered.account == account, let login = users[account] else { continue }
                    world.ledger.heard(login, at: provider.taken[registered.device] ?? 0)
                default: break
                }
            } else {
                perform(action)
            }
        }
    }

    private func perform(_ action: Registrar.Action) {
        let (process, provider) = (process, provider)
        func hear(_ message: Int) -> ((status: Int, body: Bytes)?) throws -> Void {
            { [unowned self] answer in
                guard self.process == process else { return }
                let event = answer.map {
                    Registrar.Event.answered(message: message, WebAnswer(status: $0.status, body: $0.body))
                }
                try handle(event ?? .lost(message: message, problem: "lost"))
            }
        }
        switch action {
        case .send(let message, let request):
            var user: String?
            if case .register(let account) = request.kind { user = account }
            world.thief.hears(Bytes(request.body), provider)
            world.network.ask({ try provider.accept(Bytes(request.body), session: user) }, hear(message))
        case .post(let message, let request):
            world.network.ask({ [world] in world.relay.answer(request) }, hear(message))
        case .finish: break
        }
    }

    /// Tells the ledger what the phone has now.
    func learn() {
        world.ledger.clock(of: number, shows: Int64(now.milliseconds))
        guard let state = try? store.state() else { return }
        for account in state.accounts {
            if let device = account.registration?.device, devices[device] == nil {
                devices[device] = users[account.name]
            }
            for key in account.keys where key.state == .retiring {
                world.ledger.retired(key.keyID.description, at: Int64(now.milliseconds))
            }
        }
    }
}

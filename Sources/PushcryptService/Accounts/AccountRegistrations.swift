internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// Does what the registrar says, with the device's store and the app's channel. Not run on Apple systems.
final class AccountRegistrations: @unchecked Sendable {
    // Everything that changes is used on the queue alone.
    let settings: AccountSettings
    private let channel: any RegistrationChannel
    private var registrar = Registrar()
    private var updates: [(account: String, call: CallOrder.Call, end: (PushAccounts.Outcome) -> Void)] = []
    private var messages: [Int: (task: Task<Void, Never>, timer: any ScheduledCall)] = [:]
    /// More notices for the next outcomes.
    private var notices: Set<String> = []

    /// One for all objects of the process. It may wait for a disk or the Keychain: tasks' shared threads never do.
    static let queue = DispatchQueue(label: "pushcrypt.accounts", qos: .userInitiated)

    init(_ settings: AccountSettings, channel: any RegistrationChannel) {
        self.settings = settings
        self.channel = channel
    }

    // MARK: Calls of the app

    /// Updates accounts, or pairs one with the server of a code.
    func update(
        _ accounts: [String], pairing code: PairingCode? = nil, token: Data, alertsAreShown: Bool,
        since call: CallOrder.Call
    ) async -> [String: PushAccounts.Outcome] {
        await withCheckedContinuation { continuation in
            Self.queue.async { [self] in
                let accounts = Set(accounts)
                let facts = settings.facts(token: token, alertsAreShown: alertsAreShown)
                prepare(for: accounts)
                guard !accounts.isEmpty else {
                    handle(.resume(facts))
                    return continuation.resume(returning: [:])
                }
                if isClockBehind { notices.insert(EnrolmentNotice.clockBehind.rawValue) }
                var outcomes: [String: PushAccounts.Outcome] = [:]
                let end = { (account: String, outcome: PushAccounts.Outcome) in
                    outcomes[account] = outcome
                    if outcomes.count == accounts.count { continuation.resume(returning: outcomes) }
                }
                let loggedOut = accounts.filter { CallOrder.isLoggedOut($0, since: call) }
                for account in loggedOut { end(account, PushAccounts.Outcome(.loggedOut)) }
                let wanted = accounts.subtracting(loggedOut).sorted()
                updates += wanted.map { account in (account, call, { end(account, $0) }) }
                for account in wanted {
                    handle(code.map { .pair(account: account, $0, facts) } ?? .update(account: account, facts))
                }
            }
        }
    }

    func logOut(_ account: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Self.queue.async { [self] in
                // First, so that nothing opens any more.
                var problem = handle(.logOut(account: account))
                var directory: URL?
                do { directory = try settings.ownDirectory() } catch { problem = problem ?? Self.obstacle(error) }
                AccountTraces.remove(of: account, in: directory, settings.senders)
                continuation.resume(with: problem.map { .failure(LogOutProblem($0)) } ?? .success(()))
            }
        }
    }

    /// Removes what an extension showed while its account was logged out, and what was withdrawn.
    private func prepare(for accounts: Set<String>) {
        guard let directory = try? settings.ownDirectory() else { return }
        NotificationList().removeWithdrawn(in: directory, at: settings.now(), settings.senders)
        guard (try? FileManager.default.makePrivateDirectory(at: directory)) != nil,
            let names = try? settings.store().state().accounts.map(\.name)
        else { return }
        AccountTraces.keep(accounts.union(names), in: directory)
    }

    /// Whether the last push came within a day and was refused as sealed in the future, which only a verified message can be. Once
    /// the user sets the date, that day has passed.
    private var isClockBehind: Bool {
        guard let directory = try? settings.ownDirectory(),
            let last = try? ExtensionDatabase(in: directory.path).journal.entries().last
        else { return false }
        return last.code == OpenError.Code.notYetValid.description
            && (last.time..<last.time.adding(.days(1))).contains(settings.now())
    }

    // MARK: Events

    /// Handles an event and stores the state; what has to be sent leaves afterwards. Returns why nothing has changed,
    /// if so.
    @discardableResult
    private func handle(_ event: Registrar.Event) -> EnrolmentObstacle? {
        dropLoggedOut()
        do {
            let terms = try settings.terms()
            // Without the group the phone would be registered, and its extension could remember nothing.
            switch event {
            case .update, .pair: _ = try settings.ownDirectory()
            case .answered, .lost, .logOut, .resume: break
            }
            let (store, now) = (try settings.store(), settings.now())
            var mark: String?
            do { mark = try settings.mark() } catch {
                // A log-out needs none.
                guard case .logOut = event else { throw error }
            }
            var next = registrar
            let change = { [registrar] () throws(KeyStoreError) in
                try store.change { (state) throws(KeyStoreError) in
                    next = registrar
                    if let mark { state.begin(installation: mark, terms.topic) }
                    return next.handle(event, &state, terms, at: now)
                }
            }
            let actions: [Registrar.Action]
            do throws(KeyStoreError) {
                actions = try change()
            } catch {
                // Its keys are lost, and no later attempt brings them back.
                guard error.code == .corruptStore else { throw error }
                try store.discard()
                notices.insert(EnrolmentNotice.stateDamaged.rawValue)
                actions = try change()
            }
            registrar = next
            perform(actions)
            return nil
        } catch {
            let obstacle = Self.obstacle(error)
            fail(event, (error as? KeyStoreError).map(PushAccounts.Outcome.Status.init) ?? .blocked(obstacle))
            return obstacle
        }
    }

    /// Ends the updates of accounts that another object has logged out since.
    private func dropLoggedOut() {
        for (name, updates) in Dictionary(grouping: updates, by: \.account.name)
        where updates.allSatisfy({ CallOrder.isLoggedOut($0.account, since: $0.call) }) {
            registrar.wishes[name] = nil
            finish(updates[0].account, PushAccounts.Outcome(.loggedOut))
        }
    }

    private func perform(_ actions: [Registrar.Action]) {
        for action in actions {
            switch action {
            case .send(let message, let request):
                send(message) { [channel] in
                    WebAnswer(status: 200, body: ContiguousArray(try await channel.send(request)))
                }
            case .post(let message, let request):
                send(message) { [settings] in try await settings.poster.post(request) }
            case .finish(let account, let outcome): finish(account, outcome)
            }
        }
    }

    private func send(_ message: Int, _ request: @escaping @Sendable () async throws -> WebAnswer) {
        let timer = settings.clock.schedule(afterMilliseconds: settings.patience) { [weak self] in
            self?.later(.lost(message: message, problem: "no answer in time"), of: message)
        }
        let task = Task { [weak self] in
            let event: Registrar.Event
            do {
                event = .answered(message: message, try await request())
            } catch {
                let failure = (error as? URLSessionPoster.Failure)?.description
                event = .lost(message: message, problem: failure ?? "\(type(of: error))")
            }
            self?.later(event, of: message)
        }
        messages[message] = (task, timer)
    }

    private func later(_ event: Registrar.Event, of message: Int) {
        Self.queue.async { [self] in
            guard let (task, timer) = messages.removeValue(forKey: message) else { return }
            timer.cancel()
            task.cancel()
            handle(event)
        }
    }

    private func finish(_ account: String, _ outcome: PushAccounts.Outcome) {
        let ended = updates.filter { $0.account.name == account.name }
        guard !ended.isEmpty else { return }
        var outcome = outcome
        outcome.notices.formUnion(notices)
        updates.removeAll { $0.account.name == account.name }
        if updates.isEmpty { notices = [] }
        for update in ended { update.end(outcome) }
    }

    /// Ends what waited for an event that could not be stored.
    private func fail(_ event: Registrar.Event, _ status: PushAccounts.Outcome.Status) {
        switch event {
        case .update(let account, _), .pair(let account, _, _): finish(account, PushAccounts.Outcome(status))
        case .logOut(let account): finish(account, PushAccounts.Outcome(.loggedOut))
        case .resume: break
        case .answered(let message, _), .lost(let message, _):
            for account in registrar.abandon(message) { finish(account, PushAccounts.Outcome(status)) }
        }
    }

    private static func obstacle(_ error: any Error) -> EnrolmentObstacle {
        if let error = error as? KeyStoreError { return EnrolmentObstacle(error) }
        return EnrolmentObstacle(code: "not-configured", description: ServiceFiles.text(for: error))
    }
}

/// The reason that a log-out is not complete.
struct LogOutProblem: Error, CustomStringConvertible {
    let description: String

    init(_ obstacle: EnrolmentObstacle) { description = "\(obstacle.code): \(obstacle)" }
}

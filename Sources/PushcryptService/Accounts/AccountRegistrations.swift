internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// Does what the machine of the registrations says, with the app's files, store and channel. Not run on Apple systems.
final class AccountRegistrations: @unchecked Sendable {
    // Everything that changes is used on the queue alone.
    private let settings: AccountSettings
    private let channel: any RegistrationChannel
    private var machine = RegistrationMachine()
    private var updates: [(account: String, end: (PushAccounts.Outcome) -> Void)] = []
    private var messages: [Int: (task: Task<Void, Never>, timer: any ScheduledCall)] = [:]

    /// One for all objects of the process, which share a file. It may wait for a disk or the Keychain: tasks' shared threads
    /// never do.
    private static let queue = DispatchQueue(label: "pushcrypt.accounts", qos: .userInitiated)

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
                var outcomes: [String: PushAccounts.Outcome] = [:]
                let circumstances = settings.circumstances(token: token, alertsAreShown: alertsAreShown)
                let hasConflict = prepare(for: accounts)
                guard !accounts.isEmpty else {
                    handle(.resume(circumstances))
                    return continuation.resume(returning: [:])
                }
                for account in accounts.sorted() {
                    let end = { (outcome: PushAccounts.Outcome) in
                        outcomes[account] = outcome
                        if hasConflict { outcomes[account]?.notices.insert("certificate-conflict") }
                        if outcomes.count == accounts.count { continuation.resume(returning: outcomes) }
                    }
                    guard !CallOrder.isLoggedOut(account, since: call) else {
                        end(PushAccounts.Outcome(.loggedOut))
                        continue
                    }
                    updates.append((account, end))
                    handle(
                        code.map { .pair(account: account, $0, circumstances) }
                            ?? .update(account: account, circumstances))
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
                do { directory = try settings.directory() } catch {
                    problem = problem ?? LogOutProblem(Self.obstacle(error))
                }
                AccountTraces(of: account, in: directory, settings.senders).remove()
                if let problem { continuation.resume(throwing: problem) } else { continuation.resume() }
            }
        }
    }

    /// Takes over what the extension has learned while the app was not running; returns whether it was a contradiction.
    private func prepare(for accounts: Set<String>) -> Bool {
        guard let directory = try? settings.directory() else { return false }
        NotificationList().removeWithdrawn(in: directory, at: settings.now(), settings.senders)
        // What cannot be merged now is merged by the next update: until then it is the extension's.
        guard (try? FileManager.default.makePrivateDirectory(at: directory)) != nil, let store = try? settings.store()
        else { return false }
        // What an extension showed while its account was logged out.
        if let names = try? store.deviceKeys().map(\.name) { AccountTraces.keep(accounts.union(names), in: directory) }
        return ((try? merge(ExtensionDatabase(in: directory.path), into: store))?.conflicts ?? 0) > 0
    }

    private func merge(
        _ database: ExtensionDatabase, into store: some DeviceKeyStore
    ) throws(KeyStoreError) -> ExtensionDatabase.MergeResult {
        try AppGroup.merge(database, into: store, at: settings.now(), .system)
    }

    // MARK: The machine's actions

    /// Returns the problem of a log-out.
    @discardableResult
    private func handle(_ event: RegistrationMachine.Event) -> LogOutProblem? {
        let file: EnrolmentFile
        let actions: [RegistrationMachine.Action]
        do {
            // Without the group the phone would be registered, and its extension could remember nothing.
            switch event {
            case .update, .pair: _ = try settings.directory()
            default: break
            }
            file = try settings.file()
            actions = machine.handle(
                event, saved: file.read(), store: try settings.store(), terms: try settings.terms(), at: settings.now())
        } catch {
            return fail(event, error)
        }
        return perform(actions, file)
    }

    private func perform(_ actions: [RegistrationMachine.Action], _ file: EnrolmentFile) -> LogOutProblem? {
        var problem: LogOutProblem?
        var unsaved: String?
        var lost: [Int] = []
        for action in actions {
            switch action {
            case .save(let state):
                do {
                    try file.write(state)
                } catch {
                    unsaved = "the state cannot be saved: \(ServiceFiles.text(for: error))"
                }
            // What is not on the disk is not said: the process may end before the answer comes.
            case .send(let message, _) where unsaved != nil, .post(let message, _) where unsaved != nil:
                lost.append(message)
            case .send(let message, let request):
                send(message) { [channel] in
                    .replied(message: message, ContiguousArray(try await channel.send(request)))
                }
            case .post(let message, let request):
                send(message) { [settings] in
                    .answered(message: message, try await settings.poster.post(request))
                }
            case .finish(let account, let outcome):
                finish(account, unsaved.map { outcome.ending(.later(Self.inputOutput($0))) } ?? outcome)
            case .removeKeys(let account):
                do {
                    try settings.store().removeAccount(account)
                } catch {
                    problem = problem ?? LogOutProblem(Self.obstacle(error))
                }
            case .failLogOut(let obstacle): problem = LogOutProblem(obstacle)
            }
        }
        guard let unsaved else { return problem }
        for message in lost { handle(.lost(message: message, problem: unsaved)) }
        return problem ?? LogOutProblem(Self.inputOutput(unsaved))
    }

    private static func inputOutput(_ problem: String) -> EnrolmentObstacle {
        EnrolmentObstacle(code: KeyStoreError.Code.inputOutput.description, description: problem)
    }

    private func send(_ message: Int, _ request: @escaping @Sendable () async throws -> RegistrationMachine.Event) {
        let timer = settings.clock.schedule(afterMilliseconds: settings.patience) { [weak self] in
            self?.later(.lost(message: message, problem: "no answer in time"), of: message)
        }
        let task = Task { [weak self] in
            let event: RegistrationMachine.Event
            do {
                event = try await request()
            } catch {
                let failure = (error as? URLSessionPoster.Failure)?.description
                event = .lost(message: message, problem: failure ?? "\(type(of: error))")
            }
            self?.later(event, of: message)
        }
        messages[message] = (task, timer)
    }

    private func later(_ event: RegistrationMachine.Event, of message: Int) {
        Self.queue.async { [self] in
            guard let (task, timer) = messages.removeValue(forKey: message) else { return }
            timer.cancel()
            task.cancel()
            handle(event)
        }
    }

    private func finish(_ account: String, _ outcome: PushAccounts.Outcome) {
        let ended = updates.filter { $0.account.utf8.elementsEqual(account.utf8) }
        updates.removeAll { $0.account.utf8.elementsEqual(account.utf8) }
        for update in ended { update.end(outcome) }
    }

    private static func obstacle(_ error: any Error) -> EnrolmentObstacle {
        let code = (error as? KeyStoreError)?.code.description ?? "not-configured"
        return EnrolmentObstacle(code: code, description: ServiceFiles.text(for: error))
    }

    /// Nothing can be read, and nothing on the disk has changed.
    private func fail(_ event: RegistrationMachine.Event, _ error: any Error) -> LogOutProblem {
        let obstacle = Self.obstacle(error)
        switch event {
        case .update(let account, _), .pair(let account, _, _):
            finish(account, PushAccounts.Outcome(.blocked(obstacle)))
        case .logOut(let account): finish(account, PushAccounts.Outcome(.loggedOut))
        case .resume: break
        case .replied(let message, _), .answered(let message, _), .lost(let message, _):
            for account in machine.abandon(message) { finish(account, PushAccounts.Outcome(.blocked(obstacle))) }
        }
        return LogOutProblem(obstacle)
    }
}

/// Why a log-out is not complete.
struct LogOutProblem: Error, CustomStringConvertible {
    let description: String

    init(_ obstacle: EnrolmentObstacle) { description = "\(obstacle.code): \(obstacle)" }
}

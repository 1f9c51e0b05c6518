internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// What becomes of the registrations of all accounts: a pure state machine, without clock, lock, file or network.
///
/// It holds only what is under way in this process; everything else is in the saved state and the key store, which are given
/// with each event as they are then. So a late event never writes back an older state.
///
/// For any events in any order: of each account at most one registration is under way, of all at most one withdrawal. A
/// device is withdrawn only when no registration of it is under way, so that the two cannot overtake each other. A
/// registration that waits ends with the log-out of its account. An event about what is no longer under way, such as a
/// second reply, changes nothing.
struct RegistrationMachine {
    /// Something that has happened.
    enum Event {
        /// The app wants an account to be registered as it is now.
        case update(account: String, EnrolmentCircumstances)
        /// The provider has answered a message.
        case replied(message: Int, ContiguousArray<UInt8>)
        /// There is no answer to a message: it may have arrived.
        case lost(message: Int, problem: String)
        /// The app has logged an account out.
        case logOut(account: String)
        /// The app has nobody to register: what a log-out has left to say is sent.
        case resume
    }

    /// Something to do now, in this order.
    enum Action {
        /// Save the state. If that fails, what follows must not be done.
        case save(EnrolmentState)
        /// Send a message.
        case send(message: Int, RegistrationRequest)
        /// Tell the app what became of an account's updates.
        case finish(account: String, PushAccounts.Outcome)
        /// Tell the app that the log-out is not complete.
        case failLogOut(EnrolmentObstacle)
    }

    /// What holds for every account, and at every event.
    struct Terms {
        var topic: Topic
        var trust: FirstTrust
        var policy = EnrolmentPolicy()
    }

    /// The name of an account, which is compared by its bytes.
    typealias Name = ContiguousArray<UInt8>

    struct Registration {
        let account: String
        let circumstances: EnrolmentCircumstances
        let request: EnrolmentRequest
        /// How many this one is, of those for one update.
        let attempt: Int
        let outcome: PushAccounts.Outcome
    }

    /// An update may take more than one registration: the first reply brings the key that the next one reports.
    private static let maximumAttempts = 3

    private(set) var registrations: [Int: Registration] = [:]
    private(set) var withdrawal: (message: Int, device: String)?
    /// Updates that wait for the end of the account's registration under way.
    private(set) var waiting: [Name: EnrolmentCircumstances] = [:]
    /// Whether the provider was asked in vain to forget a device; asked again at the next update.
    private(set) var isWithdrawalLost = false
    private var lastMessage = 0

    /// Handles an event, and returns what to do; nothing for an event that is late or repeated.
    ///
    /// - Parameters:
    ///   - event: What has happened.
    ///   - saved: The state as it is saved now.
    ///   - store: The device's keys and pins.
    ///   - terms: What holds for every account.
    ///   - now: The present time.
    mutating func handle(
        _ event: Event, saved: SavedEnrolment, store: some DeviceKeyStore, terms: Terms, at now: Timestamp
    ) -> [Action] {
        var step = Step(saved: saved)
        let enrolment = { (account: String) in
            Enrolment(
                store: store, account: account, topic: terms.topic, firstTrust: terms.trust, policy: terms.policy)
        }
        switch event {
        case .update(let account, let circumstances):
            isWithdrawalLost = false
            if registrations.values.contains(where: { $0.account.name == account.name }) {
                waiting[account.name] = circumstances
            } else {
                register(account, circumstances, enrolment(account), &step, at: now)
            }
        case .replied(let message, let reply):
            if let registration = registrations.removeValue(forKey: message) {
                take(reply, to: registration, enrolment(registration.account), &step, at: now)
            } else if let withdrawal, withdrawal.message == message {
                self.withdrawal = nil
                if var state = step.state {
                    state.removeWithdrawal(of: withdrawal.device)
                    step.save(state)
                }
            } else {
                return []
            }
        case .lost(let message, let problem):
            if let registration = registrations.removeValue(forKey: message) {
                end(registration, .unreachable(problem), enrolment(registration.account), &step, at: now)
            } else if withdrawal?.message == message {
                withdrawal = nil
                isWithdrawalLost = true
            } else {
                return []
            }
        case .logOut(let account):
            isWithdrawalLost = false
            logOut(account, enrolment(account), &step)
        case .resume: isWithdrawalLost = false
        }
        withdraw(&step)
        return step.actions
    }

    /// Forgets a message whose answer cannot be handled, because there is no store. Returns its account, if it has one.
    mutating func abandon(_ message: Int) -> String? {
        if withdrawal?.message == message { (withdrawal, isWithdrawalLost) = (nil, true) }
        guard let account = registrations.removeValue(forKey: message)?.account else { return nil }
        waiting[account.name] = nil
        return account
    }

    // MARK: Registration

    private mutating func register(
        _ account: String, _ circumstances: EnrolmentCircumstances, _ enrolment: Enrolment<some DeviceKeyStore>,
        _ step: inout Step, attempt: Int = 1, after outcome: PushAccounts.Outcome = PushAccounts.Outcome(),
        at now: Timestamp
    ) {
        var outcome = outcome
        do throws(KeyStoreError) {
            switch enrolment.reconcile(step.saved, in: circumstances, at: now) {
            case .later(let obstacle):
                return step.finish(account, outcome.ending(.later(obstacle)))
            case .blocked(let obstacle):
                return step.finish(account, outcome.ending(.blocked(obstacle)))
            case .plan(let plan):
                let work = try enrolment.begin(plan, at: now)
                outcome.note(plan, isFirst: attempt == 1)
                if !plan.steps.isEmpty { step.save(work.state) }
                guard let request = work.request else { return step.finish(account, outcome.ending(.registered)) }
                lastMessage += 1
                registrations[lastMessage] = Registration(
                    account: account, circumstances: circumstances, request: request, attempt: attempt,
                    outcome: outcome)
                step.actions.append(
                    .send(
                        message: lastMessage,
                        RegistrationRequest(.register(account: account), request.record.json)))
            }
        } catch {
            step.finish(account, outcome.ending(error))
        }
    }

    private mutating func take(
        _ text: ContiguousArray<UInt8>, to registration: Registration, _ enrolment: Enrolment<some DeviceKeyStore>,
        _ step: inout Step, at now: Timestamp
    ) {
        let reply: RegistrationReply
        do throws(KeyError) {
            reply = try RegistrationReply(json: text)
        } catch {
            return end(registration, .unreachable("the reply: \(error)"), enrolment, &step, at: now)
        }
        // Without the state nothing is known about the account: the next update asks again.
        guard var state = step.state else {
            return end(registration, .unreachable("the state could not be read"), enrolment, &step, at: now)
        }
        var outcome = registration.outcome
        do throws(KeyStoreError) {
            let result = try enrolment.handle(reply, to: registration.request, state: &state, at: now)
            step.save(state)
            outcome.note(result)
            // A refusal that has deleted the keys is no end: the account begins again.
            var isOver = true
            switch result.key {
            case .acknowledged:
                outcome.status = .registered
                isOver = false
            case .refused(let refusal):
                outcome.status = .refused(refusal)
                isOver = try !enrolment.deviceKeys().isEmpty
            case .anotherKey: outcome.status = .unreachable("the reply is not about the key that was sent")
            }
            guard waiting[registration.account.name] == nil, !isOver, registration.attempt < Self.maximumAttempts else {
                return end(registration, outcome, enrolment, &step, at: now)
            }
            register(
                registration.account, registration.circumstances, enrolment, &step,
                attempt: registration.attempt + 1, after: outcome, at: now)
        } catch {
            step.save(state)
            end(registration, outcome.ending(error), enrolment, &step, at: now)
        }
    }

    /// Ends a registration: with what waits for its end, or by telling the app.
    private mutating func end(
        _ registration: Registration, _ outcome: PushAccounts.Outcome, _ enrolment: Enrolment<some DeviceKeyStore>,
        _ step: inout Step, at now: Timestamp
    ) {
        guard let circumstances = waiting.removeValue(forKey: registration.account.name) else {
            return step.finish(registration.account, outcome)
        }
        register(registration.account, circumstances, enrolment, &step, at: now)
    }

    private mutating func end(
        _ registration: Registration, _ status: PushAccounts.Outcome.Status,
        _ enrolment: Enrolment<some DeviceKeyStore>, _ step: inout Step, at now: Timestamp
    ) {
        end(registration, registration.outcome.ending(status), enrolment, &step, at: now)
    }

    // MARK: Log-out

    private mutating func logOut(
        _ account: String, _ enrolment: Enrolment<some DeviceKeyStore>, _ step: inout Step
    ) {
        waiting[account.name] = nil
        do throws(KeyStoreError) {
            if let state = try enrolment.logOut(step.saved) {
                step.save(state)
            } else if case .unreadable = step.saved {
                // Otherwise the provider would never hear of it.
                step.actions.append(.failLogOut(.unreadableState))
            }
        } catch {
            step.actions.append(.failLogOut(EnrolmentObstacle(error)))
        }
        step.finish(account, PushAccounts.Outcome(.loggedOut))
    }

    private mutating func withdraw(_ step: inout Step) {
        guard withdrawal == nil, !isWithdrawalLost, let state = step.state else { return }
        let underWay = registrations.values.map(\.request.record.deviceID)
        guard let next = state.withdrawals.first(where: { !underWay.contains($0.device) }) else { return }
        lastMessage += 1
        withdrawal = (lastMessage, next.device)
        step.actions.append(.send(message: lastMessage, RegistrationRequest(.withdraw, next.json)))
    }

    /// What one event does.
    private struct Step {
        var saved: SavedEnrolment
        var actions: [Action] = []

        init(saved: SavedEnrolment) {
            // Parsed once; what cannot be is left to the enrolment.
            if case .text(let text) = saved, let state = try? EnrolmentState(json: text) {
                self.saved = .state(state)
            } else {
                self.saved = saved
            }
        }

        /// The state; nil if there is none to be had.
        var state: EnrolmentState? { if case .state(let state) = saved { state } else { nil } }

        mutating func save(_ state: EnrolmentState) {
            if self.state != state { actions.append(.save(state)) }
            saved = .state(state)
        }

        mutating func finish(_ account: String, _ outcome: PushAccounts.Outcome) {
            actions.append(.finish(account: account, outcome))
        }
    }
}

extension String {
    fileprivate var name: ContiguousArray<UInt8> { ContiguousArray(utf8) }
}

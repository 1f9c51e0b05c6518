internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// What is under way between the phone and its app's relay: one request at a time, so that the end of all grants cannot
/// overtake a new one.
struct RelayTalk {
    typealias Status = PushAccounts.Outcome.Status
    typealias Wish = RegistrationMachine.Wish

    /// What a request is about.
    enum Subject {
        case endAll
        case end(EnrolmentState.Grant)
        /// A grant, for nobody if the account has logged out meanwhile.
        case grant(Wish?, SigningPublicKey, PushAddress)
    }

    /// The longest time for which a relay can say that it wants to be left alone.
    private static let longestRest = Interval.hours(1)

    var call: (message: Int, request: PhoneRequest, subject: Subject)?
    /// Those that wait for a grant.
    var wishes: [Wish] = []
    /// The phone's last known address.
    var address: PushAddress?
    /// Why the relay is not asked before the next update.
    var problem: Status?
    /// Whether the relay has refused to end a grant; asked again at the next update.
    private(set) var isEndRefused = false
    private var rest: (from: Timestamp, until: Timestamp, status: Status)?

    mutating func resume() {
        problem = nil
        isEndRefused = false
    }

    /// Why the relay must not be asked now.
    func obstacle(at now: Timestamp) -> Status? {
        if let problem { return problem }
        guard let rest, rest.from <= now, now < rest.until else { return nil }
        return rest.status
    }

    /// Whether a wish of the account waits for a grant.
    func isAsked(for account: String) -> Bool {
        (wishes + [called].compactMap(\.self)).contains { $0.account.name == account.name }
    }

    /// Whose grant is being fetched.
    private var called: Wish? {
        guard case .grant(let wish?, _, _) = call?.subject else { return nil }
        return wish
    }

    /// Forgets the wishes of an account that logs out.
    mutating func cancel(_ account: String) {
        wishes.removeAll { $0.account.name == account.name }
        if case .grant(let wish?, let pushKey, let address) = call?.subject, wish.account.name == account.name {
            call?.subject = .grant(nil, pushKey, address)
        }
    }

    /// Forgets a request whose answer cannot be handled; returns the accounts that waited.
    mutating func abandon(_ message: Int) -> [String] {
        guard call?.message == message else { return [] }
        let accounts = (wishes + [called].compactMap(\.self)).map(\.account)
        (call, wishes) = (nil, [])
        return accounts
    }

    /// Notes that a request was in vain; returns why.
    mutating func fail(_ subject: Subject, _ answer: PhoneRequest.Answer, at now: Timestamp) -> Status {
        let status: Status
        switch answer {
        case .refused(let code, let isTemporary, let retryAfter):
            let obstacle = EnrolmentObstacle(code: code, description: "the relay refuses")
            status = isTemporary ? .later(obstacle) : .blocked(obstacle)
            if let retryAfter {
                rest = (now, now.adding(min(retryAfter, Self.longestRest)), status)
            }
            // A permanent refusal concerns this request, and the relay is there for others.
            guard isTemporary else {
                switch subject {
                case .grant: break
                case .end: isEndRefused = true
                case .endAll: problem = status
                }
                return status
            }
        case .unreadable(let text): status = .unreachable("the relay: \(text)")
        case .granted, .ended: status = .unreachable("the relay answers another question")
        }
        problem = status
        return status
    }

    /// The grant to end next.
    func nextEnded(in state: inout EnrolmentState, at now: Timestamp) -> EnrolmentState.Grant? {
        guard !isEndRefused, let address else { return nil }
        return state.nextEnded(at: address, at: now)
    }
}

extension RegistrationMachine {
    /// Asks the relay for what is next: first the end of all grants, then grants, then the end of single ones.
    mutating func talkToRelay(_ step: inout Step<some DeviceKeyStore>) {
        while relay.call == nil {
            guard step.terms.relay != nil, let state = step.state else {
                return giveUp(.unreachable("the state could not be read"), &step)
            }
            if let obstacle = relay.obstacle(at: step.now) { return giveUp(obstacle, &step) }
            if state.endsAllGrants {
                guard let address = relay.address else { return }
                ask(.endAll, .endAll, for: address, &step)
            } else if !relay.wishes.isEmpty {
                let wish = relay.wishes.removeFirst()
                guard step.needsGrant(wish), let pushKey = state.pushKey(of: wish.account),
                    let address = step.address(wish.circumstances)
                else {
                    proceedAfterRelay(wish, &step)
                    continue
                }
                let kinds = step.terms.relay?.kinds ?? []
                ask(.grant(pushKey, kinds: kinds), .grant(wish, pushKey, address), for: address, &step)
            } else {
                let now = step.now
                var ended: EnrolmentState.Grant?
                step.change { ended = relay.nextEnded(in: &$0, at: now) }
                guard let ended, let address = relay.address else { return }
                ask(.end(ended.text), .end(ended), for: address, &step)
            }
        }
    }

    private mutating func ask(
        _ wish: PhoneRequest.Wish, _ subject: RelayTalk.Subject, for address: PushAddress,
        _ step: inout Step<some DeviceKeyStore>
    ) {
        guard let origin = step.terms.relay?.origin else { return }
        let (message, request) = (newMessage(), PhoneRequest(wish, for: address, to: origin))
        relay.call = (message, request, subject)
        step.actions.append(.post(message: message, WebRequest(url: request.url, body: request.body)))
    }

    /// Lets all that wait for a grant go on without one.
    private mutating func giveUp(_ status: PushAccounts.Outcome.Status, _ step: inout Step<some DeviceKeyStore>) {
        while !relay.wishes.isEmpty {
            var wish = relay.wishes.removeFirst()
            wish.relayProblem = status
            proceedAfterRelay(wish, &step)
        }
    }

    /// Takes an answer of the relay; returns false if it is late.
    mutating func takeRelayAnswer(
        _ message: Int, _ answer: WebAnswer, _ step: inout Step<some DeviceKeyStore>
    ) -> Bool {
        guard let call = relay.call, call.message == message else { return false }
        relay.call = nil
        take(
            call.request.answer(status: answer.status, retryAfter: answer.retryAfter, body: answer.body),
            to: call.subject,
            &step)
        return true
    }

    /// Notes that the relay has not answered; returns false if the message was not for it.
    mutating func loseRelayAnswer(
        _ message: Int, _ problem: String, _ step: inout Step<some DeviceKeyStore>
    ) -> Bool {
        guard let call = relay.call, call.message == message else { return false }
        relay.call = nil
        take(.unreadable(problem), to: call.subject, &step)
        return true
    }

    private mutating func take(
        _ answer: PhoneRequest.Answer, to subject: RelayTalk.Subject, _ step: inout Step<some DeviceKeyStore>
    ) {
        switch (subject, answer) {
        case (.endAll, .ended): step.change { $0.noteAllEnded() }
        case (.end(let grant), .ended): step.change { $0.removeEnded(grant) }
        case (.end(let grant), .refused(let code, _, _)) where ["wrong-token", "malformed-grant"].contains(code):
            // It never will.
            step.change { $0.removeEnded(grant) }
        case (.grant(let wish, let pushKey, let address), .granted(let text, let end)) where step.now < end:
            guard let wish else { return }
            let now = step.now
            let grant = EnrolmentState.Grant(text, pushKey, for: address, at: now, until: end)
            step.change { $0.add(grant, to: wish.account, at: now) }
            proceedAfterRelay(wish, &step)
        default:
            let status = relay.fail(subject, answer, at: step.now)
            guard case .grant(var wish?, _, _) = subject else { return }
            wish.relayProblem = status
            proceedAfterRelay(wish, &step)
        }
    }
}

internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// The state of the app's relay, as far as this process knows.
struct RelayStatus {
    typealias Status = PushAccounts.Outcome.Status

    /// The longest time for which a relay can say that it wants to be left alone.
    private static let longestRest = Interval.hours(1)

    /// The phone's last known address. A phone has one, whatever account an update is for.
    var address: PushAddress?
    /// The reason not to ask the relay before the next update.
    private var problem: Status?
    /// Whether the relay has refused to end a grant; asked again at the next update.
    private(set) var isEndRefused = false
    private var rest: (from: Timestamp, until: Timestamp, status: Status)?

    mutating func resume() { (problem, isEndRefused) = (nil, false) }

    /// Returns the reason not to ask the relay now.
    func obstacle(at now: Timestamp) -> Status? {
        if let problem { return problem }
        guard let rest, rest.from <= now, now < rest.until else { return nil }
        return rest.status
    }

    /// Notes that a request was in vain; returns why.
    mutating func fail(_ wish: Registrar.RelayWish, _ answer: PhoneRequest.Answer, at now: Timestamp) -> Status {
        let status: Status
        switch answer {
        case .refused(let code, let isTemporary, let retryAfter):
            let obstacle = EnrolmentObstacle(code: code, description: "the relay refuses")
            status = isTemporary ? .later(obstacle) : .blocked(obstacle)
            if let retryAfter { rest = (now, now.adding(min(retryAfter, Self.longestRest)), status) }
            // A permanent refusal concerns this request, and the relay is there for others.
            switch wish {
            case .grant where !isTemporary: return status
            case .end where !isTemporary: isEndRefused = true
            default: problem = status
            }
            return status
        case .unreadable(let text): status = .unreachable("the relay: \(text)")
        case .granted, .ended: status = .unreachable("the relay answers another question")
        }
        problem = status
        return status
    }
}

// One request at a time, so that the end of all grants cannot overtake a new one.
extension Registrar {
    /// A grant that ends sooner is none: fetching others would never end.
    private static let shortestLife = Interval.hours(1)
    /// The codes of a grant that can never end, or whose relay key is gone, with which it has ended.
    private static let deadCodes = ["grant-unknown-key", "wrong-secret", "malformed-grant"]

    var isRelayAsked: Bool {
        for case .relay in underway.values { return true }
        return false
    }

    /// Asks the relay for what is next.
    mutating func askRelay(_ state: DeviceState, _ terms: Terms, at now: Timestamp) {
        guard !isRelayAsked, relay.obstacle(at: now) == nil, let app = terms.relay,
            let (request, wish) = nextRelayWish(state, app.kinds, at: now)
        else { return }
        let post = PhoneRequest(request, to: app.origin)
        send(post.body, to: post.url, .relay(post, wish))
    }

    /// The end of all grants, which needs one of them; a grant; the end of a single one.
    private func nextRelayWish(
        _ state: DeviceState, _ kinds: [String], at now: Timestamp
    ) -> (PhoneRequest.Wish, RelayWish)? {
        if let address = relay.address {
            let all = state.grants(at: address, at: now)
            if state.relay?.endsAll == true, let last = all.last {
                return (.endAll(last.text, secret: last.secret), .endAll(all))
            }
            for wish in wishes.values.sorted(by: { $0.number < $1.number }) where wish.relayProblem == nil {
                if let key = state.pushKeyWithoutGrant(of: wish.account, at: address, at: now) {
                    return (.grant(key, address, kinds: kinds), .grant(account: wish.account, key, address))
                }
            }
        }
        guard !relay.isEndRefused, let grant = state.nextEnded(at: now) else { return nil }
        return (.end(grant.text, secret: grant.secret), .end(grant))
    }

    /// Whether a registration waits until the relay has issued a grant, or will not. Then the relay is asked.
    func waitsForRelay(_ wish: Wish, _ state: DeviceState, at now: Timestamp) -> Bool {
        guard wish.relayProblem == nil, relay.obstacle(at: now) == nil, let address = relay.address,
            state.account(wish.account)?.registration?.pushKey != nil
        else { return false }
        return state.relay?.endsAll == true || state.pushKeyWithoutGrant(of: wish.account, at: address, at: now) != nil
    }

    /// The status of an account of which the provider knows everything: without a grant it cannot push.
    func registered(_ wish: Wish, _ state: DeviceState, at now: Timestamp) -> PushAccounts.Outcome.Status {
        guard let problem = wish.relayProblem ?? relay.obstacle(at: now), let address = relay.address,
            let pushKey = state.account(wish.account)?.registration?.pushKey
        else { return .registered }
        // The end of all grants may have arrived, and only its answer been lost.
        if state.relay?.endsAll == true, case .unreachable = problem { return problem }
        return state.grant(of: wish.account)?.serves(pushKey, at: address, at: now) == true ? .registered : problem
    }

    /// Takes an answer of the relay, or that there is none.
    mutating func take(
        _ answer: PhoneRequest.Answer, to wish: RelayWish, _ state: inout DeviceState, at now: Timestamp
    ) {
        switch (wish, answer) {
        case (.endAll(let all), .ended): return state.noteAllEnded(all)
        case (.end(let grant), .ended): return state.noteEnded(grant, at: now)
        case (.grant(let account, let pushKey, let address), .granted(let text, let secret, let end))
        where now.adding(Self.shortestLife) < end:
            let grant = DeviceState.Grant(text, secret: secret, pushKey, for: address, at: now, until: end)
            return state.add(grant, to: account, at: now)
        case (.end(let grant), .refused(let code, false, _)) where Self.deadCodes.contains(code):
            return state.forget([grant])
        case (.endAll(let all), .refused(let code, false, _)) where Self.deadCodes.contains(code):
            // The next update tries another; trying them all now might never end.
            state.forget(all.suffix(1))
            _ = relay.fail(wish, .refused(code: code, isTemporary: true, retryAfter: nil), at: now)
            return
        default: break
        }
        let status = relay.fail(wish, answer, at: now)
        switch wish {
        case .grant(let account, _, _): wishes[account.name]?.relayProblem = status
        case .end(let grant): if relay.isEndRefused { state.postpone(grant) }
        case .endAll: break
        }
    }
}

internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// The registrations of all accounts: a pure state machine, without clock, lock, file or network.
///
/// It holds only what is under way in this process; everything else is in the device's state. After each event it
/// says what there is to say next. Of each account at most one registration is under way, of all at most one end and
/// one request to the relay. A device is ended only when no registration of it is under way, so that the two cannot
/// overtake each other. An event about what is no longer under way, such as a second answer, changes nothing. A wish
/// that has not ended has a message under way, or waits for that to the relay.
struct Registrar {
    /// Something that has happened.
    enum Event {
        /// The app wants an account to be registered as it is now.
        case update(account: String, EnrolmentFacts)
        /// The user has agreed to pair an account with the server of a code.
        case pair(account: String, PairingCode, EnrolmentFacts)
        /// A message was answered, over the app's channel always with status 200.
        case answered(message: Int, WebAnswer)
        /// There is no answer to a message: it may have arrived.
        case lost(message: Int, problem: String)
        /// The app has logged an account out.
        case logOut(account: String)
        /// The app has nobody to register: what a log-out has left to say is sent.
        case resume(EnrolmentFacts)
    }

    /// Something to do when the state is stored.
    enum Action {
        /// Send a message over the app's channel.
        case send(message: Int, RegistrationRequest)
        /// Post a message to the relay, or to the address of a code.
        case post(message: Int, WebRequest)
        /// Tell the app what became of an account's updates.
        case finish(account: String, PushAccounts.Outcome)
    }

    /// The rules for every account, and at every event.
    struct Terms {
        var enrolment: EnrolmentTerms
        var relay: PushRelay?

        var topic: Topic { enrolment.topic }

        /// Returns the phone's address for the relay.
        func address(_ facts: EnrolmentFacts) -> PushAddress? {
            guard relay != nil, let token = facts.pushToken, let environment = facts.environment else { return nil }
            return PushAddress(token: token, environment: environment, topic: topic)
        }
    }

    /// The name of an account, which is compared by its bytes.
    typealias Name = ContiguousArray<UInt8>

    /// A wish of the app for an account.
    struct Wish {
        /// A wish that came while a registration was under way, which did not yet say it.
        enum Renewal { case update, pairing }

        let account: String
        /// Its place among all wishes.
        let number: Int
        var facts: EnrolmentFacts
        /// The code to pair with.
        var code: PairingCode?
        /// Whether there was no such account before.
        let isNew: Bool
        var renewal: Renewal?
        /// The number of registrations it has taken.
        var attempt = 0
        var isNoted = false
        var outcome = PushAccounts.Outcome()
        /// The reason that the relay has issued no grant.
        var relayProblem: PushAccounts.Outcome.Status?
    }

    /// The way of a registration.
    enum Way {
        /// Over the app's channel, in the account's session.
        case channel
        /// Sealed under a code.
        case pairing(PhonePairing)
        /// Signed, to the address of a paired account; first only a hello, where the address may be a stranger's.
        /// [P-11]
        case open(String, hello: RecordNonce?)
    }

    /// The subject of a message.
    enum Message {
        case registration(account: String, EnrolmentRequest, Way)
        case end(DeviceState.End, hello: RecordNonce?)
        case relay(PhoneRequest, RelayWish)
    }

    /// A wish to the relay.
    enum RelayWish {
        /// A grant for the server of an account.
        case grant(account: String, SigningPublicKey, PushAddress)
        case end(DeviceState.Grant)
        /// The end of all grants of the token, with the last of these.
        case endAll([DeviceState.Grant])
    }

    var wishes: [Name: Wish] = [:]
    var underway: [Int: Message] = [:]
    /// The devices whose ends no provider has taken; posted again at the next update.
    var lostEnds: Set<String> = []
    var relay = RelayStatus()
    private var actions: [Action] = []
    private var (lastMessage, lastWish) = (0, 0)

    /// Handles an event, and returns what to do when the state is stored; nothing for an event that is late or
    /// repeated.
    mutating func handle(
        _ event: Event, _ state: inout DeviceState, _ terms: Terms, at now: Timestamp
    ) -> [Action] {
        // Also after a damaged state, or if another object has another one.
        if let origin = terms.relay?.origin { state.use(origin) }
        switch event {
        case .update(let account, let facts): want(account, facts, nil, &state, terms)
        case .pair(let account, let code, let facts): want(account, facts, code, &state, terms)
        case .resume(let facts): resume(facts, terms)
        case .logOut(let account):
            resume()
            wishes[account.name] = nil
            state.logOut(account, terms.topic)
            actions.append(.finish(account: account, PushAccounts.Outcome(.loggedOut)))
        case .answered(let message, let answer):
            guard let about = underway.removeValue(forKey: message) else { return [] }
            take(answer, to: about, &state, terms, at: now)
        case .lost(let message, let problem):
            guard let about = underway.removeValue(forKey: message) else { return [] }
            switch about {
            case .registration(let account, _, _): end(account, .unreachable(problem), &state, terms)
            case .end(let end, _): lostEnds.insert(end.record.device)
            case .relay(_, let wish): take(.unreadable(problem), to: wish, &state, at: now)
            }
        }
        registerAll(&state, terms, at: now)
        askRelay(state, terms, at: now)
        endDevices(state)
        defer { actions = [] }
        return actions
    }

    private mutating func take(
        _ answer: WebAnswer, to message: Message, _ state: inout DeviceState, _ terms: Terms, at now: Timestamp
    ) {
        switch message {
        case .registration(let account, let request, let way):
            take(answer, of: account, to: request, way, &state, terms, at: now)
        case .end(let end, let hello): take(answer, to: end, hello, &state, terms, at: now)
        case .relay(let request, let wish):
            let answer = request.answer(status: answer.status, retryAfter: answer.retryAfter, body: answer.body)
            take(answer, to: wish, &state, at: now)
        }
    }

    /// Forgets a message whose answer cannot be stored. Returns the accounts whose wishes are over, because of it or
    /// because nothing is left that they could wait for.
    mutating func abandon(_ message: Int) -> [String] {
        var over: Set<Name> = []
        switch underway.removeValue(forKey: message) {
        case .registration(let account, _, _), .relay(_, .grant(let account, _, _)): over = [account.name]
        case .end(let end, _): lostEnds.insert(end.record.device)
        case .relay, nil: break
        }
        let isRelayAsked = isRelayAsked
        let gone = wishes.filter { over.contains($0.key) || !isRelayAsked && request(of: $0.value.account) == nil }
        for name in gone.keys { wishes[name] = nil }
        return gone.values.map(\.account)
    }

    // MARK: Wishes

    /// Lets everything be tried again that was not said, or not answered.
    private mutating func resume() {
        lostEnds = []
        relay.resume()
    }

    private mutating func resume(_ facts: EnrolmentFacts, _ terms: Terms) {
        resume()
        relay.address = terms.address(facts)
    }

    private mutating func want(
        _ account: String, _ facts: EnrolmentFacts, _ code: PairingCode?, _ state: inout DeviceState, _ terms: Terms
    ) {
        resume(facts, terms)
        lastWish += 1
        var wish =
            wishes[account.name]
            ?? Wish(
                account: account, number: lastWish, facts: facts,
                isNew: state.account(account)?.registration?.report == nil)
        (wish.facts, wish.code) = (facts, code ?? wish.code)
        (wish.attempt, wish.relayProblem) = (0, nil)
        if request(of: account) != nil { wish.renewal = code == nil ? wish.renewal ?? .update : .pairing }
        wishes[account.name] = wish
    }

    /// Ends a wish by telling the app, unless the app has wished more meanwhile.
    mutating func end(
        _ account: String, _ status: PushAccounts.Outcome.Status, _ state: inout DeviceState, _ terms: Terms
    ) {
        guard let wish = wishes[account.name] else { return }
        // An update that came during a pairing in vain counted on it.
        let isInVain = wish.code != nil && status.isFinal
        if wish.renewal == .pairing || wish.renewal == .update && !isInVain {
            wishes[account.name]?.renewal = nil
            return
        }
        wishes[account.name] = nil
        // Kept until the app hears of it.
        if wish.outcome.notices.contains(EnrolmentNotice.certificateConflict.rawValue) {
            state.endContradiction(of: account, terms.topic)
        }
        if isInVain, wish.isNew { state.abandon(account) }
        var outcome = wish.outcome.ending(status)
        if terms.relay != nil, status == .registered, state.account(account)?.registration?.pushKey == nil {
            outcome.notices.insert(EnrolmentNotice.noPushKey.rawValue)
        }
        actions.append(.finish(account: wish.account, outcome))
    }

    // MARK: Messages

    /// The account's registration under way.
    func request(of account: String) -> EnrolmentRequest? {
        for case .registration(let other, let request, _) in underway.values where other.name == account.name {
            return request
        }
        return nil
    }

    /// Posts a body to an address; over the app's channel if there is none.
    mutating func send(_ body: ContiguousArray<UInt8>, to address: String?, _ message: Message) {
        lastMessage += 1
        underway[lastMessage] = message
        switch (address, message) {
        case (let address?, _): actions.append(.post(message: lastMessage, WebRequest(url: address, body: body)))
        case (nil, .registration(let account, _, _)):
            actions.append(.send(message: lastMessage, RegistrationRequest(.register(account: account), body)))
        case (nil, .end(let end, _)):
            actions.append(.send(message: lastMessage, RegistrationRequest(.end(account: end.account), body)))
        case (nil, .relay): preconditionFailure("the relay has an address")
        }
    }

    /// A hello, if the address may be a stranger's in another network. [P-11]
    static func hello(to address: String) -> RecordNonce? {
        WebAddress(address)?.isSecure == true ? nil : RecordNonce()
    }
}

extension String {
    var name: Registrar.Name { ContiguousArray(utf8) }
}

extension PushAccounts.Outcome.Status {
    /// Whether the same again cannot succeed.
    fileprivate var isFinal: Bool {
        switch self {
        case .refused, .blocked: true
        case .registered, .unreachable, .later, .loggedOut: false
        }
    }
}

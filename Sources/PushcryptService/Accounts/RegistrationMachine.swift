internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// What becomes of the registrations of all accounts: a pure state machine, without clock, lock, file or network.
///
/// It holds only what is under way in this process; everything else is in the saved state and the key store, which are given
/// with each event as they are then. So a late event never writes back an older state.
///
/// For any events in any order: of each account at most one registration is under way, of all at most one end and one
/// request to the relay. A device is ended only when no registration of it is under way, so that the two cannot overtake each
/// other. A registration that waits ends with the log-out of its account. An event about what is no longer under way, such as a
/// second reply, changes nothing.
struct RegistrationMachine {
    /// Something that has happened.
    enum Event {
        /// The app wants an account to be registered as it is now.
        case update(account: String, EnrolmentCircumstances)
        /// The user has agreed to pair an account with the server of a code.
        case pair(account: String, PairingCode, EnrolmentCircumstances)
        /// The provider has answered a message.
        case replied(message: Int, ContiguousArray<UInt8>)
        /// The relay, or the server of a code, has answered a message.
        case answered(message: Int, WebAnswer)
        /// There is no answer to a message: it may have arrived.
        case lost(message: Int, problem: String)
        /// The app has logged an account out.
        case logOut(account: String)
        /// The app has nobody to register: what a log-out has left to say is sent.
        case resume(EnrolmentCircumstances)
    }

    /// Something to do now, in this order.
    enum Action {
        /// Save the state. If that fails, what follows must not be done.
        case save(EnrolmentState)
        /// Send a message over the app's channel.
        case send(message: Int, RegistrationRequest)
        /// Post a message to the relay, or to the address of a code.
        case post(message: Int, WebRequest)
        /// Tell the app what became of an account's updates.
        case finish(account: String, PushAccounts.Outcome)
        /// Delete the keys of an account that has logged out.
        case removeKeys(account: String)
        /// Tell the app that the log-out is not complete.
        case failLogOut(EnrolmentObstacle)
    }

    /// What holds for every account, and at every event.
    struct Terms {
        var topic: Topic
        var trust: FirstTrust
        var policy = EnrolmentPolicy()
        var relay: PushRelay?
    }

    /// The name of an account, which is compared by its bytes.
    typealias Name = ContiguousArray<UInt8>

    /// What the app wants for an account: an update or a pairing.
    struct Wish {
        let account: String
        let circumstances: EnrolmentCircumstances
        /// The code to pair with.
        var code: PairingCode?
        /// Whether there was no such account before.
        var isNew = false
        /// How many registrations it has taken.
        var attempt = 1
        var outcome = PushAccounts.Outcome()
        /// Why the relay has issued no grant.
        var relayProblem: PushAccounts.Outcome.Status?
    }

    struct Registration {
        var wish: Wish
        let request: EnrolmentRequest
        let way: Way
    }

    /// How a registration travels.
    enum Way {
        /// Over the app's channel, in the account's session.
        case channel
        /// Sealed under a code.
        case pairing(PhonePairing)
        /// Signed, to the address of a paired account; first only a hello, where the address may be a stranger's.
        case open(String, hello: RecordNonce?)
    }

    /// The end of a device on its way.
    struct Ending {
        let message: Int
        let end: EnrolmentState.End
        let hello: RecordNonce?
    }

    /// A wish may take more than one registration: the first reply brings the keys that the next one reports.
    static let maximumAttempts = 3

    private(set) var registrations: [Int: Registration] = [:]
    private(set) var ending: Ending?
    /// Wishes that wait for the end of the account's registration under way.
    private(set) var waiting: [Name: Wish] = [:]
    /// The devices whose ends no provider has taken; posted again at the next update.
    private(set) var lostEnds: Set<String> = []
    var relay = RelayTalk()
    private var lastMessage = 0

    /// Handles an event, and returns what to do; nothing for an event that is late or repeated.
    ///
    /// - Parameters:
    ///   - event: What has happened.
    ///   - saved: The state as it is saved now.
    ///   - store: The device's keys and pins.
    ///   - terms: What holds for every account.
    ///   - now: The present time.
    mutating func handle<Store: DeviceKeyStore>(
        _ event: Event, saved: SavedEnrolment, store: Store, terms: Terms, at now: Timestamp
    ) -> [Action] {
        var step = Step(saved: saved, store: store, terms: terms, now: now)
        switch event {
        case .update(let account, let circumstances): start(Wish(account: account, circumstances: circumstances), &step)
        case .pair(let account, let code, let circumstances):
            start(Wish(account: account, circumstances: circumstances, code: code), &step)
        case .replied(let message, let reply):
            if let registration = registrations.removeValue(forKey: message) {
                take(reply, to: registration, &step)
            } else if let ending, ending.message == message {
                self.ending = nil
                take(reply, to: ending, &step)
            } else {
                return []
            }
        case .answered(let message, let answer):
            if let registration = registrations.removeValue(forKey: message) {
                take(answer, to: registration, &step)
            } else if let ending, ending.message == message {
                self.ending = nil
                take(answer, to: ending, &step)
            } else if !takeRelayAnswer(message, answer, &step) {
                return []
            }
        case .lost(let message, let problem):
            if let registration = registrations.removeValue(forKey: message) {
                end(registration.wish, .unreachable(problem), &step)
            } else if let ending, ending.message == message {
                self.ending = nil
                lostEnds.insert(ending.end.device)
            } else if !loseRelayAnswer(message, problem, &step) {
                return []
            }
        case .logOut(let account):
            resume()
            logOut(account, &step)
        case .resume(let circumstances):
            relay.address = step.address(circumstances)
            resume()
        }
        endDevices(&step)
        talkToRelay(&step)
        return step.actions
    }

    /// Forgets a message whose answer cannot be handled, because there is no store. Returns the accounts that waited for it.
    mutating func abandon(_ message: Int) -> [String] {
        if let ending, ending.message == message {
            lostEnds.insert(ending.end.device)
            self.ending = nil
        }
        let accounts =
            [registrations.removeValue(forKey: message)?.wish.account].compactMap(\.self) + relay.abandon(message)
        for account in accounts { waiting[account.name] = nil }
        return accounts
    }

    mutating func newMessage() -> Int {
        lastMessage += 1
        return lastMessage
    }

    // MARK: Wishes

    /// What was not said, or not answered, may be tried again.
    private mutating func resume() {
        lostEnds = []
        relay.resume()
    }

    private mutating func start(_ wish: Wish, _ step: inout Step<some DeviceKeyStore>) {
        resume()
        relay.address = step.address(wish.circumstances)
        if let origin = step.terms.relay?.origin { step.change { $0.use(origin) } }
        let name = wish.account.name
        guard registrations.values.contains(where: { $0.wish.account.name == name }) || relay.isAsked(for: wish.account)
        else { return begin(wish, &step) }
        var next = wish
        next.code = next.code ?? waiting[name]?.code
        waiting[name] = next
    }

    private mutating func begin(_ wish: Wish, _ step: inout Step<some DeviceKeyStore>) {
        var wish = wish
        wish.isNew = step.state?.has(wish.account) != true
        do throws(KeyStoreError) {
            if let code = wish.code, try !step.enrolment(of: wish.account).mayPair(with: code) {
                return step.finish(wish.account, wish.outcome.ending(.blocked(.otherProvider)))
            }
            proceed(wish, &step)
        } catch {
            step.finish(wish.account, wish.outcome.ending(error))
        }
    }

    /// Registers an account, first with a grant if it needs one.
    mutating func proceed(_ wish: Wish, _ step: inout Step<some DeviceKeyStore>) {
        if wish.relayProblem == nil, step.needsGrant(wish) {
            relay.wishes.append(wish)
        } else {
            register(wish, &step)
        }
    }

    /// Goes on when the relay has answered, or will not.
    mutating func proceedAfterRelay(_ wish: Wish, _ step: inout Step<some DeviceKeyStore>) {
        if waiting[wish.account.name] == nil { register(wish, &step) } else { end(wish, .registered, &step) }
    }

    private mutating func register(_ wish: Wish, _ step: inout Step<some DeviceKeyStore>) {
        var wish = wish
        let enrolment = step.enrolment(of: wish.account)
        do throws(KeyStoreError) {
            switch enrolment.reconcile(step.saved, in: step.circumstances(of: wish), at: step.now) {
            case .later(let obstacle): end(wish, .later(obstacle), &step)
            case .blocked(let obstacle): end(wish, .blocked(obstacle), &step)
            case .plan(var plan):
                if wish.code != nil, wish.attempt == 1 { plan.registerInAnyCase() }
                var work = try enrolment.begin(plan, at: step.now)
                wish.outcome.note(plan, isFirst: wish.attempt == 1)
                if step.state == nil, let origin = step.terms.relay?.origin {
                    // What an earlier installation has left at the relay.
                    work.state.use(origin)
                    work.state.endAllGrants()
                }
                if !plan.steps.isEmpty { step.save(work.state) }
                guard let request = work.request else { return end(wish, step.registered(wish), &step) }
                send(request, for: wish, &step)
            }
        } catch {
            end(wish, wish.outcome.ending(error).status, &step)
        }
    }

    private mutating func send(
        _ request: EnrolmentRequest, for wish: Wish, _ step: inout Step<some DeviceKeyStore>
    ) {
        if let code = wish.code {
            var request = request
            request.pairingAddress = code.url.text
            let pairing = PhonePairing(code, request.record, topic: step.terms.topic)
            post(
                pairing.body, to: code.url.text, Registration(wish: wish, request: request, way: .pairing(pairing)),
                &step)
        } else if let address = step.state?.address(of: wish.account) {
            let hello = Self.hello(to: address)
            post(
                hello.map { PhonePost.hello($0).body } ?? request.signed.body, to: address,
                Registration(wish: wish, request: request, way: .open(address, hello: hello)), &step)
        } else {
            let message = newMessage()
            registrations[message] = Registration(wish: wish, request: request, way: .channel)
            let kind = RegistrationRequest.Kind.register(account: wish.account)
            step.actions.append(.send(message: message, RegistrationRequest(kind, request.signed.body)))
        }
    }

    /// Posts a registration, or the hello before it.
    mutating func post(
        _ body: ContiguousArray<UInt8>, to address: String, _ registration: Registration,
        _ step: inout Step<some DeviceKeyStore>
    ) {
        let message = newMessage()
        registrations[message] = registration
        step.actions.append(.post(message: message, WebRequest(url: address, body: body)))
    }

    /// A hello, if the address may be a stranger's in another network. [P-11]
    private static func hello(to address: String) -> RecordNonce? {
        WebAddress(address)?.isSecure == true ? nil : RecordNonce()
    }

    /// Ends a wish: with what waits for its end, or by telling the app.
    mutating func end(
        _ wish: Wish, _ status: PushAccounts.Outcome.Status, _ step: inout Step<some DeviceKeyStore>
    ) {
        let outcome = wish.outcome.ending(status)
        if wish.code != nil, status.isFinal {
            // What waited counted on the pairing.
            waiting[wish.account.name] = nil
            if wish.isNew { step.abandon(wish.account) }
            return step.finish(wish.account, outcome)
        }
        guard let next = waiting.removeValue(forKey: wish.account.name) else {
            return step.finish(wish.account, outcome)
        }
        begin(next, &step)
    }

    // MARK: Log-out

    private mutating func logOut(_ account: String, _ step: inout Step<some DeviceKeyStore>) {
        waiting[account.name] = nil
        relay.cancel(account)
        // What a code's server answers now ends no later wish.
        for (message, registration) in registrations where registration.wish.account.name == account.name {
            registrations[message]?.wish.code = nil
        }
        do throws(KeyStoreError) {
            if let state = try step.enrolment(of: account).logOut(step.saved) {
                step.save(state)
            } else if case .unreadable = step.saved {
                // Otherwise the provider would never hear of it.
                step.actions.append(.failLogOut(.unreadableState))
            }
            step.actions.append(.removeKeys(account: account))
        } catch {
            step.actions.append(.failLogOut(EnrolmentObstacle(error)))
        }
        step.finish(account, PushAccounts.Outcome(.loggedOut))
    }

    private mutating func endDevices(_ step: inout Step<some DeviceKeyStore>) {
        guard ending == nil, let state = step.state else { return }
        let skipped = lostEnds.union(registrations.values.compactMap(\.request.record.deviceID))
        // Each has its own server: one that is gone must not stop the others.
        guard let next = state.ends.first(where: { !skipped.contains($0.device) }) else { return }
        guard let address = next.address else {
            let message = newMessage()
            ending = Ending(message: message, end: next, hello: nil)
            return step.actions.append(
                .send(message: message, RegistrationRequest(.end(account: next.account), next.record.body)))
        }
        post(next, to: address, hello: Self.hello(to: address), &step)
    }

    /// Posts an end, or the hello before it.
    private mutating func post(
        _ end: EnrolmentState.End, to address: String, hello: RecordNonce?, _ step: inout Step<some DeviceKeyStore>
    ) {
        let message = newMessage()
        ending = Ending(message: message, end: end, hello: hello)
        let body = hello.map { PhonePost.hello($0).body } ?? end.record.body
        step.actions.append(.post(message: message, WebRequest(url: address, body: body)))
    }

    /// Takes the reply to an end that came over the app's channel, which may be signed, too.
    private mutating func take(
        _ text: ContiguousArray<UInt8>, to ending: Ending, _ step: inout Step<some DeviceKeyStore>
    ) {
        let reply = signedReply(text, to: ending, step) ?? (try? RegistrationReply(json: text))
        take(reply?.verdict, to: ending.end, &step)
    }

    /// Takes what the address of a code has answered to an end, or to the hello before it: only the provider's own word counts.
    private mutating func take(_ answer: WebAnswer, to ending: Ending, _ step: inout Step<some DeviceKeyStore>) {
        let verdict = answer.status == 200 ? signedReply(answer.body, to: ending, step)?.verdict : nil
        guard let hello = ending.hello else { return take(verdict, to: ending.end, &step) }
        if verdict == .hello(hello.description), let address = ending.end.address {
            post(ending.end, to: address, hello: nil, &step)
        } else {
            lostEnds.insert(ending.end.device)
        }
    }

    private func signedReply(
        _ body: ContiguousArray<UInt8>, to ending: Ending, _ step: Step<some DeviceKeyStore>
    ) -> RegistrationReply? {
        let (record, topic) = (ending.end.record, step.terms.topic)
        let asked = ending.hello.map { ContiguousArray($0.description.utf8) } ?? record.bytes
        guard let provider = record.provider, let trust = try? step.store.trust(in: provider, for: topic) else {
            return nil
        }
        return SignedReply.open(body, to: asked, trusting: trust, for: topic, at: step.now)
    }

    /// Forgets an end that the provider knows, or can never take. [D-51]
    private mutating func take(
        _ verdict: RegistrationReply.Verdict?, to end: EnrolmentState.End, _ step: inout Step<some DeviceKeyStore>
    ) {
        switch verdict {
        case .ended(end.device), .refused(.unknownDevice), .refused(.badRecordSignature):
            step.change { $0.removeEnd(of: end.device) }
        default: lostEnds.insert(end.device)
        }
    }
}

extension String {
    var name: RegistrationMachine.Name { ContiguousArray(utf8) }
}

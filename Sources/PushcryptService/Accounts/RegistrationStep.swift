internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

extension RegistrationMachine {
    /// What one event does, and what it finds.
    struct Step<Store: DeviceKeyStore> {
        private(set) var saved: SavedEnrolment
        let store: Store
        let terms: Terms
        let now: Timestamp
        var actions: [Action] = []

        init(saved: SavedEnrolment, store: Store, terms: Terms, now: Timestamp) {
            // Parsed once; what cannot be is left to the enrolment.
            if case .text(let text) = saved, let state = try? EnrolmentState(json: text) {
                self.saved = .state(state)
            } else {
                self.saved = saved
            }
            (self.store, self.terms, self.now) = (store, terms, now)
        }

        /// The state; nil if there is none to be had.
        var state: EnrolmentState? { if case .state(let state) = saved { state } else { nil } }

        func enrolment(of account: String) -> Enrolment<Store> {
            Enrolment(
                store: store, account: account, topic: terms.topic, firstTrust: terms.trust, policy: terms.policy)
        }

        mutating func save(_ state: EnrolmentState) {
            if self.state != state { actions.append(.save(state)) }
            saved = .state(state)
        }

        /// Changes the state, if there is one to be had.
        mutating func change(_ body: (inout EnrolmentState) -> Void) {
            guard var state else { return }
            body(&state)
            save(state)
        }

        mutating func finish(_ account: String, _ outcome: PushAccounts.Outcome) {
            var outcome = outcome
            if terms.relay != nil, outcome.status == .registered, state?.pushKey(of: account) == nil {
                outcome.notices.insert(EnrolmentPlan.Notice.noPushKey.description)
            }
            actions.append(.finish(account: account, outcome))
        }

        /// Removes what a pairing in vain has made of a new account.
        mutating func abandon(_ account: String) {
            guard var state else { return }
            // If the keys cannot be removed now, they are the account's when it pairs again.
            guard (try? enrolment(of: account).abandon(&state)) != nil else { return }
            save(state)
        }

        // MARK: The relay

        /// Where the phone is, for the relay.
        func address(_ circumstances: EnrolmentCircumstances) -> PushAddress? {
            guard let token = circumstances.pushToken, let environment = circumstances.environment else { return nil }
            return PushAddress(token: token, environment: environment, topic: terms.topic)
        }

        /// What the account's record says: with a relay the grant instead of the token.
        func circumstances(of wish: Wish) -> EnrolmentCircumstances {
            guard terms.relay != nil else { return wish.circumstances }
            var circumstances = wish.circumstances
            (circumstances.pushToken, circumstances.environment) = (nil, nil)
            circumstances.grant = state?.grant(of: wish.account)?.text
            return circumstances
        }

        /// Whether the account's server has no grant for this phone as it is now, or an old one.
        func needsGrant(_ wish: Wish) -> Bool {
            guard terms.relay != nil, let pushKey = state?.pushKey(of: wish.account),
                let address = address(wish.circumstances)
            else { return false }
            guard let grant = state?.grant(of: wish.account), grant.serves(pushKey, at: address, at: now) else {
                return true
            }
            return grant.isOld(at: now)
        }

        /// The status of an account of which the provider knows everything: without a grant it cannot push.
        func registered(_ wish: Wish) -> PushAccounts.Outcome.Status {
            guard let problem = wish.relayProblem, let address = address(wish.circumstances) else { return .registered }
            let pushKey = state?.pushKey(of: wish.account)
            return state?.grant(of: wish.account)?.serves(pushKey, at: address, at: now) == true ? .registered : problem
        }
    }
}

extension PushAccounts.Outcome.Status {
    /// Whether the same again cannot succeed.
    var isFinal: Bool {
        switch self {
        case .refused, .blocked: true
        case .registered, .unreachable, .later, .loggedOut: false
        }
    }
}

extension EnrolmentObstacle {
    static let otherProvider = EnrolmentObstacle(
        code: "\(PairingError.Code.wrongProvider)",
        description: "the account trusts another server than that of the code: log it out first, or use another name")
    static let unknownPairing = EnrolmentObstacle(
        code: "\(PairingError.Code.unknown)",
        description: "the server knows no such code, or none any more: scan another one")
    static let pairingUsed = EnrolmentObstacle(
        code: "\(RegistrationReply.Refusal.pairingUsed)",
        description: "another phone has paired with this code: scan another one")
}

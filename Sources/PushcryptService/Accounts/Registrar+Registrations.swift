internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

extension Registrar {
    /// A wish may take more than one registration: the first reply brings the keys that the next one reports.
    private static let maximumAttempts = 3

    /// Registers every account that needs it, and does not wait: for an answer, or for a grant.
    mutating func registerAll(_ state: inout DeviceState, _ terms: Terms, at now: Timestamp) {
        while let next = wishes.values.filter({
            request(of: $0.account) == nil && !waitsForRelay($0, state, at: now)
        }).min(by: { $0.number < $1.number }) {
            register(next, &state, terms, at: now)
        }
    }

    /// Sends what the account has to say, or ends the wish.
    private mutating func register(_ wish: Wish, _ state: inout DeviceState, _ terms: Terms, at now: Timestamp) {
        var wish = wish
        if let code = wish.code, !state.mayPair(wish.account, with: code, terms.enrolment) {
            return end(wish.account, .blocked(.otherProvider), &state, terms)
        }
        do throws(KeyStoreError) {
            var after = state
            let isForced = wish.code != nil && wish.attempt == 0
            let step = try after.next(
                for: wish.account, facts(of: wish, state, terms), terms.enrolment, isForced: isForced, at: now)
            state = after
            wish.outcome.note(step, isFirst: !wish.isNoted)
            (wish.isNoted, wish.attempt) = (true, wish.attempt + 1)
            wishes[wish.account.name] = wish
            guard let request = step.request else {
                return end(wish.account, registered(wish, state, at: now), &state, terms)
            }
            send(request, for: wish, state, terms)
        } catch {
            end(wish.account, PushAccounts.Outcome.Status(error), &state, terms)
        }
    }

    /// Returns what the account's record says: with a relay the grant instead of the token.
    private func facts(of wish: Wish, _ state: DeviceState, _ terms: Terms) -> EnrolmentFacts {
        guard terms.relay != nil else { return wish.facts }
        var facts = wish.facts
        (facts.pushToken, facts.environment, facts.grant) = (nil, nil, state.grant(of: wish.account)?.text)
        return facts
    }

    private mutating func send(
        _ request: EnrolmentRequest, for wish: Wish, _ state: DeviceState, _ terms: Terms
    ) {
        let account = wish.account
        if let code = wish.code {
            var request = request
            request.pairingAddress = code.url.text
            let pairing = PhonePairing(code, request.record, topic: terms.topic)
            send(pairing.body, to: code.url.text, .registration(account: account, request, .pairing(pairing)))
        } else if let address = state.account(account)?.registration?.address {
            let hello = Self.hello(to: address)
            let body = hello.map { PhonePost.hello($0).body } ?? request.signed.body
            send(body, to: address, .registration(account: account, request, .open(address, hello: hello)))
        } else {
            send(request.signed.body, to: nil, .registration(account: account, request, .channel))
        }
    }

    // MARK: Answers

    /// Takes what has come back for a registration.
    mutating func take(
        _ answer: WebAnswer, of account: String, to request: EnrolmentRequest, _ way: Way, _ state: inout DeviceState,
        _ terms: Terms, at now: Timestamp
    ) {
        switch read(answer, of: account, to: request, way, state, terms, at: now) {
        case .reply(let reply): take(reply, of: account, to: request, &state, terms, at: now)
        case .over(let status): end(account, status, &state, terms)
        // Meanwhile it may have logged out.
        case .hello(let address) where state.account(account)?.registration?.device == request.record.deviceID:
            send(request.signed.body, to: address, .registration(account: account, request, .open(address, hello: nil)))
        case .hello: end(account, .loggedOut, &state, terms)
        }
    }

    private enum Reading {
        case reply(RegistrationReply)
        /// It is the provider that is there: the record may be posted.
        case hello(String)
        /// It is no reply.
        case over(PushAccounts.Outcome.Status)
    }

    private func read(
        _ answer: WebAnswer, of account: String, to request: EnrolmentRequest, _ way: Way, _ state: DeviceState,
        _ terms: Terms, at now: Timestamp
    ) -> Reading {
        switch way {
        case .channel:
            do throws(KeyError) {
                return .reply(try RegistrationReply(json: answer.body))
            } catch {
                return .over(.unreachable("the reply: \(error)"))
            }
        case .pairing where answer.status == 404: return .over(.blocked(.unknownPairing))
        case _ where answer.status != 200: return .over(.unreachable("the server answers with status \(answer.status)"))
        case .pairing(let pairing):
            do throws(PairingError) {
                let reply = try pairing.reply(answer.body.span, at: now) { state.trust(in: $0, for: terms.topic) }
                return reply.verdict == .refused(.pairingUsed) ? .over(.blocked(.pairingUsed)) : .reply(reply)
            } catch {
                let obstacle = EnrolmentObstacle(code: "\(error.code)", description: error.description)
                return .over(error.code == .wrongProvider ? .blocked(obstacle) : .unreachable("\(error)"))
            }
        case .open(let address, let hello):
            // Nobody but the provider can sign it. [D-44]
            let asked = hello.map { ContiguousArray($0.description.utf8) } ?? request.signed.asked
            let trust = state.trust(for: terms.topic, account: account)
            guard let reply = SignedReply.open(answer.body, to: asked, trusting: trust, for: terms.topic, at: now)
            else {
                return .over(.unreachable("the answer is not signed by the provider"))
            }
            guard let hello else { return .reply(reply) }
            return reply.verdict == .hello(hello.description)
                ? .hello(address) : .over(.unreachable("the server answers another question"))
        }
    }

    /// Takes a provider's reply to a registration.
    private mutating func take(
        _ reply: RegistrationReply, of account: String, to request: EnrolmentRequest, _ state: inout DeviceState,
        _ terms: Terms, at now: Timestamp
    ) {
        do throws(KeyStoreError) {
            var after = state
            let result = try after.take(reply, to: request, of: account, terms.enrolment, at: now)
            if result.key == .acknowledged, let address = request.pairingAddress {
                after.setAddress(address, of: account)
                // Unless another code has come meanwhile.
                if wishes[account.name]?.renewal != .pairing { wishes[account.name]?.code = nil }
            }
            state = after
            wishes[account.name]?.outcome.note(result)
            guard let wish = wishes[account.name] else { return }
            let status: PushAccounts.Outcome.Status
            switch result.key {
            case .acknowledged: status = registered(wish, state, at: now)
            case .refused(let refusal): status = .refused(refusal)
            case .anotherKey: status = .unreachable("the reply is not about the key that was sent")
            }
            guard wish.renewal != nil || !result.goesOn || wish.attempt >= Self.maximumAttempts else { return }
            end(account, status, &state, terms)
        } catch {
            end(account, PushAccounts.Outcome.Status(error), &state, terms)
        }
    }
}

extension EnrolmentObstacle {
    fileprivate static let otherProvider = EnrolmentObstacle(
        code: "\(PairingError.Code.wrongProvider)",
        description: "the account trusts another server than that of the code: log it out first, or use another name")
    fileprivate static let unknownPairing = EnrolmentObstacle(
        code: "\(PairingError.Code.unknown)",
        description: "the server knows no such code, or none any more: scan another one")
    fileprivate static let pairingUsed = EnrolmentObstacle(
        code: "\(RegistrationReply.Refusal.pairingUsed)",
        description: "another phone has paired with this code: scan another one")
}

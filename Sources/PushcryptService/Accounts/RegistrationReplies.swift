internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

extension RegistrationMachine {
    /// Takes a reply that came over the app's channel.
    mutating func take(
        _ text: ContiguousArray<UInt8>, to registration: Registration, _ step: inout Step<some DeviceKeyStore>
    ) {
        do throws(KeyError) {
            take(try RegistrationReply(json: text), to: registration, &step)
        } catch {
            end(registration.wish, .unreachable("the reply: \(error)"), &step)
        }
    }

    /// Takes what the address of a code has answered.
    mutating func take(
        _ answer: WebAnswer, to registration: Registration, _ step: inout Step<some DeviceKeyStore>
    ) {
        switch registration.way {
        case .channel: break
        case .pairing(let pairing): take(answer, to: registration, pairing, &step)
        case .open(let address, let hello): take(answer, to: registration, at: address, hello, &step)
        }
    }

    private mutating func take(
        _ answer: WebAnswer, to registration: Registration, _ pairing: PhonePairing,
        _ step: inout Step<some DeviceKeyStore>
    ) {
        let wish = registration.wish
        switch answer.status {
        case 200: break
        case 404: return end(wish, .blocked(.unknownPairing), &step)
        case let status: return end(wish, .unreachable("the server answers with status \(status)"), &step)
        }
        do throws(PairingError) {
            let (store, topic) = (step.store, step.terms.topic)
            let reply = try pairing.reply(answer.body.span, at: step.now) { try? store.trust(in: $0, for: topic) }
            if reply.verdict == .refused(.pairingUsed) { return end(wish, .blocked(.pairingUsed), &step) }
            take(reply, to: registration, &step)
        } catch {
            let obstacle = EnrolmentObstacle(code: "\(error.code)", description: error.description)
            end(wish, error.code == .wrongProvider ? .blocked(obstacle) : .unreachable("\(error)"), &step)
        }
    }

    /// Takes the reply to a signed record, or to the hello before it, which nobody but the provider can sign. [D-44]
    private mutating func take(
        _ answer: WebAnswer, to registration: Registration, at address: String, _ hello: RecordNonce?,
        _ step: inout Step<some DeviceKeyStore>
    ) {
        let (wish, topic) = (registration.wish, step.terms.topic)
        let asked = hello.map { ContiguousArray($0.description.utf8) } ?? registration.request.signed.bytes
        guard answer.status == 200 else {
            return end(wish, .unreachable("the server answers with status \(answer.status)"), &step)
        }
        do throws(KeyStoreError) {
            let trust = try step.enrolment(of: wish.account).trust()
            let reply = SignedReply.open(answer.body, to: asked, trusting: trust, for: topic, at: step.now)
            guard let reply else { return end(wish, .unreachable("the answer is not signed by the provider"), &step) }
            guard let hello else { return take(reply, to: registration, &step) }
            guard reply.verdict == .hello(hello.description) else {
                return end(wish, .unreachable("the server answers another question"), &step)
            }
            post(
                registration.request.signed.body, to: address,
                Registration(wish: wish, request: registration.request, way: .open(address, hello: nil)), &step)
        } catch {
            end(wish, wish.outcome.ending(error).status, &step)
        }
    }

    private mutating func take(
        _ reply: RegistrationReply, to registration: Registration, _ step: inout Step<some DeviceKeyStore>
    ) {
        var wish = registration.wish
        // Without the state nothing is known about the account: the next update asks again.
        guard var state = step.state else { return end(wish, .unreachable("the state could not be read"), &step) }
        let enrolment = step.enrolment(of: wish.account)
        do throws(KeyStoreError) {
            let result = try enrolment.handle(reply, to: registration.request, state: &state, at: step.now)
            if result.key == .acknowledged, let code = wish.code {
                state.setAddress(code.url.text, of: wish.account)
                wish.code = nil
            }
            step.save(state)
            wish.outcome.note(result)
            // A refusal that has deleted the keys, or made another, is no end: the account begins again.
            let (status, isOver): (PushAccounts.Outcome.Status, Bool)
            switch result.key {
            case .acknowledged: (status, isOver) = (step.registered(wish), false)
            case .refused(.staleRecord): (status, isOver) = (.refused(.staleRecord), result.needsPairing)
            case .refused(let refusal):
                let key = try enrolment.currentKey()
                let isOther = key.map { $0.state == .pending && $0.publicKey != registration.request.record.publicKey }
                (status, isOver) = (.refused(refusal), !(isOther ?? true))
            case .anotherKey: (status, isOver) = (.unreachable("the reply is not about the key that was sent"), true)
            }
            guard waiting[wish.account.name] == nil, !isOver, wish.attempt < Self.maximumAttempts else {
                return end(wish, status, &step)
            }
            wish.attempt += 1
            proceed(wish, &step)
        } catch {
            step.save(state)
            end(wish, wish.outcome.ending(error).status, &step)
        }
    }
}

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

    /// Takes what the server of a code has answered.
    mutating func take(
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
            let reply = try pairing.reply(answer.body.span)
            if reply.verdict == .refused(.pairingUsed) { return end(wish, .blocked(.pairingUsed), &step) }
            take(reply, to: registration, &step)
        } catch {
            let obstacle = EnrolmentObstacle(code: "\(error.code)", description: error.description)
            end(wish, error.code == .wrongProvider ? .blocked(obstacle) : .unreachable("\(error)"), &step)
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
            step.save(state)
            wish.outcome.note(result)
            // A refusal that has deleted the keys is no end: the account begins again.
            let (status, isOver): (PushAccounts.Outcome.Status, Bool)
            switch result.key {
            case .acknowledged: (status, isOver) = (step.registered(wish), false)
            case .refused(let refusal): (status, isOver) = (.refused(refusal), try !enrolment.deviceKeys().isEmpty)
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

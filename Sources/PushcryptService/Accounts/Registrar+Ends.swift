internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

extension Registrar {
    /// Tells a provider of a device that has ended. Each has its own server: one that is gone must not stop the others.
    mutating func endDevices(_ state: DeviceState) {
        var busy = lostEnds
        for message in underway.values {
            switch message {
            case .end: return
            case .registration(_, let request, _): request.record.deviceID.map { _ = busy.insert($0) }
            case .relay: break
            }
        }
        guard let next = state.ends.first(where: { !busy.contains($0.record.device) }) else { return }
        let hello = next.address.flatMap(Self.hello)
        send(hello.map { PhonePost.hello($0).body } ?? next.record.body, to: next.address, .end(next, hello: hello))
    }

    /// Takes what has come back for an end, or for the hello before it: at the address of a code only the provider's
    /// own word counts, over the app's channel a plain reply too. [D-51]
    mutating func take(
        _ answer: WebAnswer, to end: DeviceState.End, _ hello: RecordNonce?, _ state: inout DeviceState, _ terms: Terms,
        at now: Timestamp
    ) {
        let asked = hello.map { ContiguousArray($0.description.utf8) } ?? end.record.asked
        var reply: RegistrationReply?
        if answer.status == 200, let provider = end.record.provider {
            let trust = state.trust(in: provider, for: terms.topic)
            reply = SignedReply.open(answer.body, to: asked, trusting: trust, for: terms.topic, at: now)
        }
        if end.address == nil { reply = reply ?? (try? RegistrationReply(json: answer.body)) }
        switch (reply?.verdict, hello) {
        case (.hello(let text)?, let hello?) where text == hello.description:
            send(end.record.body, to: end.address, .end(end, hello: nil))
        case (.ended(end.record.device)?, nil), (.refused(.unknownDevice)?, nil), (.refused(.badRecordSignature)?, nil):
            state.ends.removeAll { $0.record.device == end.record.device }
        default: lostEnds.insert(end.record.device)
        }
    }
}

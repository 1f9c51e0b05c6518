import Pushcrypt

@testable import PushcryptSend
@testable import PushcryptService
@testable import Simulated

/// A publisher's relay, which sometimes has too much to do.
final class Relay {
    private unowned let world: World
    private(set) var model = ModelRelay()
    /// How many of a hundred requests it refuses as too many.
    var mishaps = 0

    init(_ world: World) { self.world = world }

    /// Answers a phone.
    func answer(_ request: WebRequest) -> (status: Int, body: ContiguousArray<UInt8>)? {
        if world.loop.chance(mishaps) { return (429, ContiguousArray(#"{"code":"too-many-requests"}"#.utf8)) }
        model.end = world.loop.time().adding(.days(180))
        let answer = model.answer(request)
        world.loop.note("relay: \(request.url.split(separator: "/").last ?? "") \(answer.status)")
        return (answer.status, answer.body)
    }

    /// Answers a push of a server.
    func react(_ line: Provider.Line) -> SimulatedAPNs.Reaction {
        if world.loop.chance(mishaps) { return refuse(429, "too-many-requests") }
        guard let grant = model.issued.first(where: { $0.text == line.target }), grant.isKnown else {
            return refuse(410, "grant-unknown-key")
        }
        guard grant.isLive else { return refuse(410, "grant-revoked") }
        guard world.provider.pushKeys.contains(grant.pushKey) else { return refuse(403, "wrong-key") }
        let pushed = Provider.Line(number: line.number, target: grant.token, json: line.json, end: line.end)
        return world.apns.take(pushed) ?? .accept
    }

    private func refuse(_ status: Int, _ code: String) -> SimulatedAPNs.Reaction {
        var answer = PushAnswer(status: status, reason: code)
        answer.isRelays = true
        return .answer(answer)
    }

    /// Removes its key for grants, which ends all that the key has sealed.
    func removeKey() {
        world.loop.note("relay: removes its key")
        model.removeKey()
    }
}

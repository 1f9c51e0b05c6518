import Pushcrypt

@testable import PushcryptSend
@testable import Simulated

/// Apple's servers: they hold, copy, replace and expire pushes, and know which tokens are gone.
final class APNs {
    private unowned let world: World
    private var apps: [String: App] = [:]
    private var gone: [String: Int64] = [:]
    /// Pushes for phones that are offline.
    private var waiting: [(line: Provider.Line, app: App)] = []
    /// How many of a hundred requests meet a mishap.
    var mishaps = 0

    init(_ world: World) { self.world = world }

    func register(_ app: App, _ token: String) { apps[token] = app }

    /// The app with the token was removed, or has another token.
    func end(_ token: String) {
        apps[token] = nil
        gone[token] = Int64(world.loop.time().milliseconds)
    }

    func react(_ line: Provider.Line) -> SimulatedAPNs.Reaction {
        if world.loop.chance(mishaps) {
            switch world.loop.below(6) {
            case 0: return .answer(busy)
            case 1: return .answer(tooMany)
            case 2: return .unread
            case 3: return .refuse
            case 4: return take(line) ?? .lost
            default: return take(line) ?? .noAnswer
            }
        }
        return take(line) ?? .accept
    }

    /// Takes a push; returns nil, or the refusal.
    func take(_ line: Provider.Line) -> SimulatedAPNs.Reaction? {
        guard let app = apps[line.target] else {
            guard let time = gone[line.target] else { return .answer(badToken) }
            return .answer(PushAnswer(status: 410, reason: "Unregistered", timestamp: time))
        }
        world.loop.note("apns: has \(line.number)")
        world.thief.sees(line, app)
        hand(line, to: app)
        if world.loop.chance(mishaps) { hand(line, to: app) }
        return nil
    }

    private func hand(_ line: Provider.Line, to app: App) {
        world.loop.after(world.loop.below(world.mostDelay)) { [unowned self] in
            guard apps[line.target] === app else { return world.ledger.excuse(line.number) }
            if app.phone.isOnline {
                try app.receive(line.number, line.json)
            } else {
                waiting.append((line, app))
            }
        }
    }

    /// A phone is reachable again: it gets the pushes that have not expired, in one of ten cases only the last.
    func deliver(to phone: Phone) throws {
        let own = waiting.filter { $0.app.phone === phone }
        waiting.removeAll { $0.app.phone === phone }
        let onlyLast = world.loop.chance(10)
        for (place, (line, app)) in own.enumerated() {
            let isOver = line.end < Int64(world.loop.time().milliseconds) || apps[line.target] !== app
            if isOver || onlyLast && place < own.count - 1 {
                world.ledger.excuse(line.number)
            } else {
                try app.receive(line.number, line.json)
            }
        }
    }
}

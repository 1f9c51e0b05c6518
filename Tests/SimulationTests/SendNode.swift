import Pushcrypt

@testable import PushcryptSend
@testable import Simulated

/// A sender: the dispatcher of `send` in the loop's time. A kill loses what it knows, and its lines are sent again.
final class SendNode {
    private unowned let world: World
    private let isRelays: Bool
    private var node: SimulatedAPNs
    /// When the node began.
    private var begin: UInt64 = 0
    private var lines: [Int: Provider.Line] = [:]
    private var isTicking = false

    init(_ world: World, isRelays: Bool) {
        (self.world, self.isRelays) = (world, isRelays)
        node = SimulatedAPNs(0) { _ in .accept }
        start()
    }

    private func start() {
        begin = world.loop.now
        node = SimulatedAPNs(world.loop.below(1000), usesToken: !isRelays) { [isRelays] in
            if isRelays { $0.mostMessages = 45 }
        } react: { [unowned self] request in
            guard let line = lines[request.number] else { return .accept }
            return isRelays ? world.relay.react(line) : world.apns.react(line)
        }
        let begin = Int64(begin)
        node.ahead = { _ in begin }
        node.wallError = { [unowned world] _ in begin + world.provider.clock }
    }

    func send(_ line: Provider.Line) throws {
        lines[line.number] = line
        world.ledger.sent(line.number)
        add(line)
        guard !isTicking else { return }
        isTicking = true
        world.loop.after(500) { [unowned self] in try tick() }
    }

    private func add(_ line: Provider.Line) {
        let life = line.end / 1000 - Int64(SimulatedAPNs.wall / 1000)
        node.add(
            line.number, to: line.target, at: world.loop.now - begin, lifetime: UInt64(max(1, life)),
            topic: world.provider.topic.bundleID)
    }

    private func tick() throws {
        node.run(until: world.loop.now - begin)
        for (number, outcome) in node.outcomes.sorted(by: { $0.key < $1.key }) {
            guard let line = lines.removeValue(forKey: number) else { continue }
            world.ledger.answered(number)
            world.loop.note("send: \(number) \(Self.text(outcome))")
            if case .accepted = outcome { continue }
            world.ledger.excuse(number)
            guard case .refused(let answer) = outcome, answer.status == 410 else { continue }
            let time = answer.timestamp ?? Int64(world.loop.time().milliseconds)
            for provider in world.providers { try provider.lost(line.target, at: time) }
        }
        isTicking = !lines.isEmpty
        if isTicking { world.loop.after(500) { [unowned self] in try tick() } }
    }

    func kill() {
        world.loop.note("send: killed with \(lines.count) lines")
        start()
        for (_, line) in lines.sorted(by: { $0.key < $1.key }) { add(line) }
    }

    private static func text(_ outcome: Outcome) -> String {
        switch outcome {
        case .accepted: "accepted"
        case .refused(let answer), .gaveUp(let answer), .held(let answer), .stopped(let answer):
            "\(answer.status) \(answer.reason ?? "")"
        default: "not accepted"
        }
    }
}

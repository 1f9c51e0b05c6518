import PushcryptReceiver
import Seed
import Testing

/// Whatever happens, in whatever order: one delivery, of the right content, and nothing after it.
@Suite struct SessionInterleavingTests {
    private static let depth = 8

    /// To whom the results of the work belong when there are two notifications; which of them is called the first is the
    /// same by symmetry.
    enum Routing: CaseIterable, Sendable {
        case one, both
    }

    // MARK: The machine, completely

    /// One notification: the machine, and what it owes.
    private struct Side: Hashable {
        var machine = DeliveryMachine<Int>()
        var oracle: SessionOracle
        var deliveries = 0
        var isReceived = false
        var isEnded = false

        /// Returns what is wrong, or nil.
        mutating func step(_ happening: Happening, content: Int) -> String? {
            guard let event = happening.event(content, oracle.kind) else { return nil }
            isEnded = isEnded || isReceived && happening.isEnd
            isReceived = isReceived || happening == .received
            let due = oracle.note(happening, content: content)
            let shown = machine.handle(event).compactMap { action -> Due? in
                switch action {
                case .deliver(let content, let outcome): .content(content, outcome)
                case .deliverFallback(let reason): .fallback(reason.code)
                default: nil
                }
            }
            deliveries += shown.count
            if shown != (due.map { [$0] } ?? []) { return "\(shown) instead of \(String(describing: due))" }
            if deliveries > 1 || isEnded && deliveries != 1 { return "\(deliveries) deliveries" }
            return machine.isOver == (deliveries == 1) ? nil : "over, and not delivered"
        }
    }

    private struct Pair: Hashable {
        var first: Side
        var second: Side

        mutating func step(_ happening: Happening, _ routing: Routing, place: Int) -> String? {
            switch happening {
            case .received: return first.step(.received, content: place)
            case .secondRequest: return second.step(.received, content: place)
            case .deadline, .expired, .released, .attachmentDeadline: break
            default:
                if routing == .one { return first.step(happening, content: place) }
            }
            return first.step(happening, content: place) ?? second.step(happening, content: 100 + place)
        }
    }

    /// Sequences that have led to equal machines that owe the same are followed as one, because they cannot differ any more.
    @Test(arguments: [Happening.common, Happening.allCases], Routing.allCases)
    func theMachineDeliversOnceInEverySequence(_ alphabet: [Happening], _ routing: Routing) throws {
        var covered = 0
        var followed = 0
        for kind in SessionOracle.Kind.all {
            let start = Side(oracle: SessionOracle(kind))
            var frontier: [Pair: (count: Int, path: [Happening])] = [Pair(first: start, second: start): (1, [])]
            for place in 1...Self.depth {
                var next: [Pair: (count: Int, path: [Happening])] = [:]
                for (pair, (count, path)) in frontier {
                    for happening in alphabet {
                        var pair = pair
                        if let fault = pair.step(happening, routing, place: place) {
                            Issue.record("\(kind), \(path + [happening]): \(fault)")
                            return
                        }
                        next[pair, default: (0, path + [happening])].count += count
                    }
                }
                frontier = next
                followed += next.count
            }
            covered += frontier.values.reduce(0) { $0 + $1.count }
        }
        let sequences = (1...Self.depth).reduce(1) { product, _ in product * alphabet.count }
        #expect(covered == sequences * SessionOracle.Kind.all.count)
        print(
            "interleavings: machine, \(alphabet.count) events to depth \(Self.depth), \(SessionOracle.Kind.all.count) kinds of push, results to \(routing) (followed as \(followed) distinct states): \(covered)"
        )
    }

    // MARK: The session itself

    /// Two sessions that share a clock, and what each of them owes.
    private struct Stage {
        private let clock = HandClock()
        private let scenes: [SessionScene]
        private var oracles: [SessionOracle]
        private var due: [[Due]] = [[], []]
        private var receivedAt: [UInt64?] = [nil, nil]
        private var time: UInt64 = 0

        init(_ kind: SessionOracle.Kind) {
            scenes = [SessionScene(clock), SessionScene(clock)]
            oracles = [SessionOracle(kind), SessionOracle(kind)]
        }

        /// Returns what is wrong, or nil.
        mutating func step(_ happening: Happening, place: Int) -> String? {
            switch happening {
            case .deadline: letTimePass(25_000)
            case .attachmentDeadline: letTimePass(15_000)
            case .received: happen(.received, to: 0, content: place)
            case .secondRequest: happen(.received, to: 1, content: place)
            default: for side in 0...1 { happen(happening, to: side, content: 100 * side + place) }
            }
            for side in 0...1 where scenes[side].delivered != due[side] {
                return "notification \(side): \(scenes[side].delivered) instead of \(due[side])"
            }
            return nil
        }

        private mutating func happen(_ happening: Happening, to side: Int, content: Int) {
            // A caller that has released a session has nothing left to tell it.
            guard scenes[side].session != nil else { return }
            if happening == .received { receivedAt[side] = receivedAt[side] ?? time }
            note(happening, of: side, content: content)
            scenes[side].happen(happening, content: content, kind: oracles[side].kind)
        }

        private mutating func letTimePass(_ milliseconds: UInt64) {
            let passed = time + 1...time + milliseconds
            time += milliseconds
            for side in 0...1 where scenes[side].session != nil {
                guard let start = receivedAt[side] else { continue }
                if passed.contains(start + 15_000) { note(.attachmentDeadline, of: side, content: 0) }
                if passed.contains(start + 25_000) { note(.deadline, of: side, content: 0) }
            }
            clock.advance(byMilliseconds: milliseconds)
        }

        private mutating func note(_ happening: Happening, of side: Int, content: Int) {
            if let next = oracles[side].note(happening, content: content) { due[side].append(next) }
        }
    }

    /// Plays a sequence; returns whether all was well.
    private static func play(_ sequence: [Happening], _ kind: SessionOracle.Kind) -> Bool {
        var stage = Stage(kind)
        for (index, happening) in sequence.enumerated() {
            guard let fault = stage.step(happening, place: index + 1) else { continue }
            Issue.record("\(kind), \(sequence[...index]): \(fault)")
            return false
        }
        return true
    }

    @Test(arguments: SessionOracle.Kind.all)
    func theSessionDeliversOnceInEveryShortSequence(_ kind: SessionOracle.Kind) {
        let alphabet = Happening.common
        let depth = 4
        var sequences: [[Happening]] = [[]]
        for _ in 0..<depth { sequences = sequences.flatMap { start in alphabet.map { start + [$0] } } }
        for sequence in sequences where !Self.play(sequence, kind) { return }
        print(
            "interleavings: session, \(alphabet.count) events to depth \(depth), 4 kinds of push, each played: \(sequences.count)"
        )
    }

    @Test(arguments: SessionOracle.Kind.all)
    func theSessionDeliversOnceInLongerSequences(_ kind: SessionOracle.Kind) {
        let rounds = 5000
        for seed in 0..<rounds {
            var random = Seed(UInt64(seed))
            let sequence = (0..<Int.random(in: 6...12, using: &random)).map { place in
                // Half of them begin as nearly all do.
                place == 0 && seed.isMultiple(of: 2)
                    ? .received : Happening.allCases.randomElement(using: &random) ?? .received
            }
            guard Self.play(sequence, kind) else { return }
        }
        print("interleavings: session, \(Happening.allCases.count) events, drawn to depth 6 to 12: \(rounds)")
    }
}

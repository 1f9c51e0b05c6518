import Foundation
import Seed
import Testing

@testable import PushcryptSend
@testable import Simulated

/// How many messages a second are accepted, in virtual time and with 4 KB bodies, and what it costs.
@Suite struct GoodputTests {
    /// A server of 400 a second, some of whose answers are slow, and messages that come all at once, or one `every` so many
    /// milliseconds.
    private func server(
        _ seed: UInt64, _ count: Int, every: UInt64 = 0, usesToken: Bool = true,
        _ change: @escaping (inout Dispatcher.Settings) -> Void = { _ in },
        react: @escaping (SimulatedAPNs.Request) -> SimulatedAPNs.Reaction
    ) -> SimulatedAPNs {
        let server = SimulatedAPNs(
            seed, usesToken: usesToken,
            {
                // A tenth of the program's, so that a test is short.
                ($0.ahead, $0.aside) = (200, 2000)
                change(&$0)
            }, react: react)
        (server.roundTrip, server.streams, server.body, server.speed) = (50, 1000, 4096, 400)
        var random = Seed(seed + 7)
        server.latency = {
            // A sum of twelve is nearly normal; e to the power of that has a long tail.
            let normal = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0...1, using: &random) }
            return 5 + UInt64(min(2000, exp(2 + normal)))
        }
        if count > 0 { for number in 1...count { server.add(number, at: UInt64(number) * every) } }
        return server
    }

    /// The messages a second that the same server accepts without refusals.
    private static let full = 400.0

    // MARK: Refusals

    @Test(arguments: [0.1, 0.25, 0.5], [("503", busy, 0), ("429", tooMany, 0), ("503-after-the-200s", busy, 50)])
    func aShareIsRefused(_ share: Double, _ kind: (name: String, answer: PushAnswer, bunch: UInt64)) {
        scenario("G1-\(kind.name)-to-\(Int(share * 100))%") { seed, check in
            let server = server(seed, 4800, { ($0.ahead, $0.aside) = (75, 300) }) {
                $0.random < share ? .answer(kind.answer) : .accept
            }
            (server.bunch, server.speed) = (kind.bunch, 150)
            server.run(until: 32_000)
            let (rate, full) = (server.rate(24_000, 32_000), Self.full * 150 / 400)
            check(rate >= 0.5 * (1 - share) * full, "\(rate)/s of \(full)")
            let cost = Double(server.requests.count) / Double(max(1, server.taken.count))
            check(cost <= 1.25 / (1 - share), "\(cost) requests for one")
        }
    }

    @Test func halfIsRefusedOnShortConnections() {
        scenario("G1-503-to-50%-and-connections-of-100-requests") { seed, check in
            let server = server(seed, 8000, { $0.connections = 1 }) {
                $0.place == 100 ? .goAway : $0.random < 0.5 ? .answer(busy) : .accept
            }
            server.run(until: 24_000)
            check(server.rate(8000, 24_000) >= 40, "\(server.rate(8000, 24_000))/s")
            check(server.gap(from: 1000) <= 3000, "\(server.gap(from: 1000)) ms without one")
        }
    }

    @Test func halfIsRefusedInBursts() {
        scenario("G1-503-to-50%-after-the-200s-in-bursts-of-200") { seed, check in
            let server = server(seed, 9000, { ($0.ahead, $0.aside) = (2000, 20_000) }) {
                $0.random < 0.5 ? .answer(busy) : .accept
            }
            (server.bunch, server.speed) = (100, 2000)
            server.run(until: 4500)
            check(server.rate(1500, 4500) >= 500, "\(server.rate(1500, 4500))/s of 2000")
        }
    }

    // MARK: Windows

    @Test(arguments: [(1, false), (4, false), (10, false), (4, true)])
    func windowsAreFull(_ connections: Int, _ updatesLate: Bool) {
        scenario("G2-windows-\(connections)-connections\(updatesLate ? "-late-updates" : "")") { seed, check in
            let server = server(seed, 1 << 14, { $0.connections = connections }) { _ in .accept }
            (server.window, server.updatesLate, server.speed) = (65_535, updatesLate, nil)
            // A receiver whose updates are late withholds up to half.
            let ideal = Double(connections) * 65_535 / 4096 * 1000 / 50 * (updatesLate ? 0.75 : 1)
            server.run(until: 5000)
            check(server.rate(2000, 5000) >= 0.85 * ideal, "\(server.rate(2000, 5000))/s of \(ideal)")
            let isOnce = server.sent <= server.taken.count + 1200 && server.taken.values.max() == 1
            check(isOnce, "\(server.sent) for \(server.taken.count)")
            check(server.mostConnects() <= connections, "\(server.connects.count) connects")
        }
    }

    @Test func readAheadGrows() {
        scenario("G2-read-ahead-grows") { seed, check in
            let server = server(seed, 6000, { $0.connections = 4 }) { _ in .accept }
            (server.speed, server.streams, server.latency) = (nil, 100, { 450 })
            server.run(until: 7000)
            check(server.rate(3000, 7000) >= 0.85 * 800, "\(server.rate(3000, 7000))/s of 800")
        }
    }

    // MARK: Outages

    private enum Outage: String {
        case overload = "503"
        case login = "403"
        case overloadAndClose = "503+close"
        case close, silence, connect
        case updates = "429"
    }

    /// A line comes every 25 ms.
    private func outage(_ kind: Outage, _ length: UInt64, gap: UInt64) {
        scenario("G3-\(kind.rawValue)-for-\(Double(length) / 1000)-s") { seed, check in
            let (start, over): (UInt64, UInt64) = (5000, 5000 + length)
            let server = server(seed, Int(over + 25_000) / 25, every: 25) {
                guard (start..<over).contains($0.time) else { return .accept }
                return switch kind {
                case .overload: .answer(busy)
                case .login: .answer(wrongKey)
                case .overloadAndClose: .answer(busy, closes: true)
                case .close, .connect: .unread
                case .silence: .silence
                case .updates: .answer(PushAnswer(status: 429, reason: "TooManyProviderTokenUpdates"))
                }
            }
            if kind == .connect {
                server.canConnect = { !(start..<over).contains($0) }
                server.loseAll(at: start)
            }
            server.run(until: over + 20_000)
            let longest = server.gap(from: 1000)
            check(longest <= length + gap, "\(longest) ms without one")
            let connects = server.mostConnects(from: start, before: over)
            check(connects <= 6, "\(connects) connects")
            let rate = server.rate(over + 15_000, over + 20_000)
            check(rate >= 36, "\(rate)/s of 40 after")
        }
    }

    @Test func shortOutages() {
        outage(.overload, 3000, gap: 5000)
        outage(.login, 4000, gap: 5000)
        outage(.connect, 2500, gap: 5000)
        outage(.close, 2500, gap: 5000)
        outage(.updates, 4000, gap: 5000)
    }

    @Test func longOutages() {
        outage(.overload, 40_000, gap: 5000)
        outage(.login, 40_000, gap: 5000)
        outage(.connect, 40_000, gap: 15_000)
        outage(.close, 40_000, gap: 15_000)
        outage(.overloadAndClose, 40_000, gap: 15_000)
        outage(.silence, 40_000, gap: 15_000)
        outage(.connect, 600_000, gap: 15_000)
    }

    @Test func fullSpeedAfterAnOutage() {
        scenario("G3-recovers-to-full-speed") { seed, check in
            for isBusy in [true, false] {
                let server = server(seed, 7000) {
                    (5000..<45_000).contains($0.time) ? isBusy ? .answer(busy) : .unread : .accept
                }
                server.speed = 200
                server.run(until: 63_000)
                let (rate, full) = (server.rate(60_000, 63_000), Self.full / 2)
                check(rate >= 0.9 * full, "\(isBusy ? "busy" : "unread"): \(rate)/s of \(full)")
            }
        }
        scenario("G3-recovers-to-full-speed-at-100-ms") { seed, check in
            let server = server(seed, 34_000, { $0.ahead = 2000 }) {
                (4000..<24_000).contains($0.time) ? .unread : .accept
            }
            (server.speed, server.roundTrip) = (1500, 100)
            server.run(until: 41_000)
            check(server.rate(39_000, 41_000) >= 1350, "\(server.rate(39_000, 41_000))/s of 1500")
        }
    }

    // MARK: A relay

    private func relay(
        _ seed: UInt64, _ count: Int, every: UInt64, _ connections: Int, answerAfter latency: UInt64
    ) -> SimulatedAPNs {
        let server = server(
            seed, count, every: every, usesToken: false,
            { ($0.mostMessages, $0.connections) = (45, connections) }
        ) { _ in .accept }
        (server.streams, server.latency) = (1, { latency })
        return server
    }

    @Test func aRelayRestarts() {
        scenario("G4-relay-restarts-before-its-first-answer") { seed, check in
            let server = relay(seed, 1000, every: 5, 8, answerAfter: 2000)
            server.canConnect = { !(1500..<1800).contains($0) }
            server.loseAll(at: 1500)
            server.run(until: 30_000)
            let first = server.accepted.values.min() ?? .max
            check(first <= 9000, "the first after \(first) ms")
            check(server.accepted.count == 1000, server.state)
        }
        for (away, gap) in [(UInt64(300), UInt64(15_000)), (60_000, 75_000)] {
            scenario("G4-relay-away-for-\(Double(away) / 1000)-s") { seed, check in
                let over = 5000 + away
                let server = relay(seed, Int(over + 30_000) / 25, every: 25, 8, answerAfter: 300)
                server.canConnect = { !(5000..<over).contains($0) }
                server.loseAll(at: 5000)
                server.run(until: over + 30_000)
                check(server.gap(from: 1000) <= gap, "\(server.gap(from: 1000)) ms without one")
                check(server.rate(over + 20_000, over + 30_000) >= 36, server.state)
            }
        }
    }

    @Test func aRelayServesAFewConnections() {
        scenario("G4-relay-serves-12-of-40-connections") { seed, check in
            let server = relay(seed, 6000, every: 5, 40, answerAfter: 1000)
            server.canConnect = { [unowned server] _ in server.live.count < 12 }
            server.loseAll(at: 10_000)
            server.run(until: 30_000)
            check(server.gap(from: 1500) <= 5000, "\(server.gap(from: 1500)) ms without one")
            check(server.connects.count <= 40, "\(server.connects.count) connects")
            check(server.rate(15_000, 30_000) >= 180, server.state)
        }
    }

    // MARK: The rest

    @Test func badTokensFirst() {
        scenario("G5-30,000-bad-tokens-first") { seed, check in
            let server = server(seed, 3300) { $0.number <= 3000 ? .answer(badToken) : .accept }
            server.run(until: 180_000)
            let good = server.accepted.keys.count { $0 > 3000 }
            check(good == 300, "\(good) of 300 good ones")
        }
        scenario("G5-half-bad-tokens") { seed, check in
            let server = server(seed, 4000) { $0.random < 0.5 ? .answer(badToken) : .accept }
            server.run(until: 9000)
            check(server.rate(3000, 8000) >= 0.45 * Self.full, "\(server.rate(3000, 8000))/s")
        }
    }

    /// SIGSTOP, or a laptop's lid.
    @Test func theProcessIsStopped() {
        scenario("G5-stopped-for-two-hours") { seed, check in
            let server = server(seed, 1500) { _ in .accept }
            server.stop = (1500, 7_201_500)
            server.loseAll(at: 5_000_000)
            server.run(until: 7_321_500)
            check(server.accepted.count == 1500, server.state)
        }
    }

    @Test func answersAreLate() {
        scenario("G5-answers-after-60-s") { seed, check in
            let server = server(seed, 300) { _ in .accept }
            server.latency = { 60_000 }
            server.run(until: 300_000)
            let twice = server.taken.values.reduce(0) { $0 + $1 - 1 }
            check(server.accepted.count == 300, server.state)
            check(twice <= 60, "\(twice) sent twice")
        }
    }

    @Test func theDateIsOff() {
        scenario("G5-date-off-by-310-s") { seed, check in
            let server = server(seed, 4000) { _ in .accept }
            server.ahead = { _ in 310_000 }
            server.run(until: 8000)
            check(server.rate(3000, 8000) >= 0.95 * Self.full, "\(server.rate(3000, 8000))/s")
            check(Set(server.requests.map(\.generation)).count == 1, "renewed")
        }
    }

    @Test func requestsBreakTheConnection() {
        scenario("G6-1%-of-requests-break-the-connection") { seed, check in
            let server = server(seed, 8000) { $0.random < 0.01 ? .lost : .accept }
            server.run(until: 40_000)
            let cost = Double(server.sent) / Double(max(1, server.taken.count))
            check(cost <= 1.2, "\(cost) requests for one")
            check(server.rate(10_000, 40_000) >= 80, "\(server.rate(10_000, 40_000))/s")
        }
    }

    @Test(arguments: [0.05, 0.15, 0.19]) func aShareOfAnswersIsLost(_ share: Double) {
        scenario("G6-\(Int(share * 100))%-of-answers-lost") { seed, check in
            let server = server(seed, 12_000) { $0.random < share ? .noAnswer : .accept }
            server.run(until: 24_000)
            let cost = Double(server.sent) / Double(max(1, server.taken.count))
            check(cost <= max(1.2, 1.02 / (1 - share)), "\(cost) requests for one")
            check(server.rate(8000, 24_000) >= 0.1 * Self.full, "\(server.rate(8000, 24_000))/s")
        }
    }

    @Test func allAnswersAreLost() {
        scenario("G6-all-answers-lost-for-a-minute") { seed, check in
            let server = server(seed, 4000, every: 25) { (5000..<65_000).contains($0.time) ? .noAnswer : .accept }
            server.run(until: 65_000)
            let cost = Double(server.requests.count) / Double(max(1, server.taken.count))
            check(cost <= 1.6, "\(cost) requests for one")
            server.run(until: 120_000)
            check(server.rate(80_000, 100_000) >= 36, "\(server.rate(80_000, 100_000))/s of 40 after")
            check(server.accepted.count == 4000, server.state)
        }
    }
}

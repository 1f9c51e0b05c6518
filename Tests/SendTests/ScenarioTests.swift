import Foundation
import Testing

@testable import PushcryptSend
@testable import Simulated

/// PUSHCRYPT_SEEDS=8 makes each scenario run with so many seeds.
private let seeds = 1...(ProcessInfo.processInfo.environment["PUSHCRYPT_SEEDS"].flatMap { UInt64($0) } ?? 1)

/// Runs a scenario for each seed, and says by name whether it passed.
func scenario(_ name: String, _ body: (UInt64, (Bool, String) -> Void) -> Void) {
    var problems: [String] = []
    for seed in seeds {
        body(seed) { holds, text in if !holds { problems.append("seed \(seed): \(text)") } }
    }
    print("scenario: \(name): \(problems.isEmpty ? "passed" : "FAILED") (virtual time, \(seeds.count) seeds)")
    #expect(problems.isEmpty, "\(name): \(problems.joined(separator: "; "))")
}

/// Faults that persist, or come together, in virtual time: a minute takes milliseconds.
@Suite struct ScenarioTests {
    /// The time that the figures allow after an outage, in milliseconds.
    private static let recovery: UInt64 = 15_000

    /// All messages are accepted soon after the end of an outage.
    private func recovers(
        _ server: SimulatedAPNs, _ count: Int, after end: UInt64, _ check: (Bool, String) -> Void
    ) {
        server.run(until: end + Self.recovery)
        check(server.accepted.count == count, "\(server.accepted.count) of \(count) accepted, \(server.state)")
        check(server.mostConnects(before: end) <= 6, "\(server.mostConnects(before: end)) connects in a minute")
    }

    @Test func busyThenClose() {
        scenario("H1-busy-then-close") { seed, check in
            let over: UInt64 = 600_000
            let server = SimulatedAPNs(seed) { $0.time < over ? .answer(busy, closes: true) : .accept }
            for number in 1...500 { server.add(number) }
            recovers(server, 500, after: over, check)
            check(server.said.first.map { $0.at < 15_000 } == true, "silent")
        }
    }

    /// The connection accepts one message before it says 503 and closes.
    @Test func busyThenCloseAfterOneAnswer() {
        scenario("H1-busy-then-close-after-one") { seed, check in
            let over: UInt64 = 300_000
            let server = SimulatedAPNs(seed) { $0.time < over && $0.place > 1 ? .answer(busy, closes: true) : .accept }
            for number in 1...500 { server.add(number) }
            server.run(until: over)
            check(server.mostConnects(from: 60_000, before: over) <= 6, "too many connects")
            server.run(until: over + 2 * Self.recovery)
            check(server.accepted.count == 500, server.state)
        }
    }

    @Test func busyForOneDevice() {
        scenario("H2-busy-for-one-device") { seed, check in
            // A third of the messages are for it, twenty a second.
            func isForIt(_ number: Int) -> Bool { number % 3 == 0 }
            func others(_ isBad: Bool) -> UInt64 {
                let server = SimulatedAPNs(seed) { isBad && $0.token == "busy" ? .answer(busy) : .accept }
                for number in 1...3000 {
                    server.add(number, to: isForIt(number) ? "busy" : nil, at: UInt64(number) * 16)
                }
                let end = server.run(until: 120_000) { server.accepted.keys.count { !isForIt($0) } == 2000 }
                check(server.accepted.keys.count { !isForIt($0) } == 2000, server.state)
                check(!server.said.contains { $0.line.trouble.kind == .busy }, "all of APNs counts as busy")
                check(!isBad || server.requests.count { $0.token == "busy" } > 25, "too few requests to it")
                return end
            }
            let (alone, beside) = (others(false), others(true))
            check(Double(beside) <= 1.05 * Double(alone), "\(beside) ms instead of \(alone)")
        }
    }

    @Test func oneLongRetryAfter() {
        scenario("H2-one-long-retry-after") { seed, check in
            let server = SimulatedAPNs(seed) {
                $0.number == 50 && $0.time < 1000 ? .answer(PushAnswer(status: 503, retryAfter: 60_000)) : .accept
            }
            for number in 1...300 { server.add(number) }
            server.run(until: 5000)
            check(server.accepted.count == 299, "\(server.accepted.count) of 299 accepted")
            server.run(until: 62_000)
            check(server.accepted.count == 300 && (server.accepted[50] ?? 0) > 60_000, "it did not wait")
        }
    }

    @Test func everythingBusy() {
        scenario("H2-everything-busy") { seed, check in
            let over: UInt64 = 600_000
            let server = SimulatedAPNs(seed) { $0.time < over ? .answer(busy) : .accept }
            for number in 1...2000 { server.add(number) }
            server.run(until: over)
            check(server.requests.count < 250, "\(server.requests.count) requests in ten minutes")
            recovers(server, 2000, after: over, check)
        }
    }

    @Test func loginRefused() {
        scenario("H3-login-refused-for-three-seconds") { seed, check in
            for over: UInt64 in [3000, 600_000] {
                let server = SimulatedAPNs(seed) { $0.time < over ? .answer(wrongKey) : .accept }
                for number in 1...300 { server.add(number) }
                recovers(server, 300, after: over, check)
                check(server.said.contains { $0.line.trouble.kind == .login }, "not said")
            }
        }
    }

    @Test func clockWrong() {
        scenario("H3-clock-wrong-for-three-seconds") { seed, check in
            let server = SimulatedAPNs(seed) {
                $0.time < 3000 ? .answer(PushAnswer(status: 403, reason: "ExpiredProviderToken")) : .accept
            }
            server.ahead = { $0 < 3000 ? 7_200_000 : 0 }
            for number in 1...300 { server.add(number) }
            recovers(server, 300, after: 3000, check)
            check(server.said.first?.line.trouble.kind == .clock, "\(server.said.map(\.line.trouble.kind))")
        }
    }

    @Test func thousandBadTokens() {
        scenario("H3-a-thousand-bad-tokens") { seed, check in
            let server = SimulatedAPNs(seed) { $0.number <= 1000 ? .answer(badToken) : .accept }
            server.streams = 10
            for number in 1...1300 { server.add(number) }
            server.run(until: 30_000)
            check(server.accepted.count == 300 && server.outcomes.count == 1300, server.state)
        }
    }

    @Test func limitedAtTheHead() {
        scenario("M1-limited-at-the-head") { seed, check in
            let server = SimulatedAPNs(seed) {
                $0.number <= 2000 ? .answer(PushAnswer(status: 429, reason: "TooManyRequests")) : .accept
            }
            for number in 1...2500 { server.add(number) }
            server.run(until: 5000)
            check(server.accepted.count == 500, "\(server.accepted.count) of 500 accepted")
        }
    }

    /// A wrong clock stops nothing: the server's time counts.
    @Test func clockAhead() {
        scenario("M2-clock-ahead") { seed, check in
            let server = SimulatedAPNs(seed) { _ in .accept }
            server.wallError = { $0 < 60_000 ? 40 * 86_400_000 : 0 }
            server.ahead = { _ in 0 }
            for number in 1...300 { server.add(number, lifetime: 3600) }
            server.run(until: 15_000)
            check(server.accepted.count == 300, server.state)
            server.run(until: 75_000)
            check(server.said.map(\.line.trouble.kind) == [.clock, .clock], "\(server.said.map(\.line.trouble.kind))")
        }
    }

    @Test func outageIsSaid() {
        scenario("M3-outage-is-said") { seed, check in
            let over: UInt64 = 600_000
            let server = SimulatedAPNs(seed) { _ in .accept }
            server.canConnect = { $0 >= over }
            for number in 1...100 { server.add(number) }
            recovers(server, 100, after: over, check)
            let phases = server.said.map(\.line.phase)
            check(phases.first == .begins && phases.last == .ended, "\(phases)")
            check((9...10).contains(phases.count { $0 == .continues }) && phases.count <= 12, "\(phases)")
            check(server.said.first?.line.waiting == 100 && server.said.last?.line.attempts ?? 0 > 40, "no counts")
        }
    }

    @Test func clearPush() {
        scenario("M6-clear-push-without-an-answer") { seed, check in
            let server = SimulatedAPNs(seed) { $0.random < 0.1 ? .lost : .accept }
            for number in 1...500 { server.add(number, mayRepeat: false) }
            server.run(until: 120_000)
            check(server.taken.values.allSatisfy { $0 == 1 } && server.outcomes.count == 500, server.state)
        }
    }

    @Test func tokenUpdates() {
        scenario("M9-token-updates") { seed, check in
            // A connection knows the first provider token that it has seen; that of the first ones is called expired.
            var known: [Int: Int] = [:]
            let server = SimulatedAPNs(seed) { request in
                if known[request.link, default: request.generation] != request.generation {
                    return .answer(PushAnswer(status: 429, reason: "TooManyProviderTokenUpdates"))
                }
                known[request.link] = request.generation
                return request.count >= 100 && request.generation == 1 ? .answer(expiredToken) : .accept
            }
            for number in 1...1000 { server.add(number) }
            server.run(until: 15_000)
            check(server.accepted.count == 1000, server.state)
        }
    }

    @Test func abortsAndGoAways() {
        scenario("M10-aborts-and-goaways") { seed, check in
            let server = SimulatedAPNs(seed) { $0.random < 1 / 6 ? .lost : $0.random < 2 / 6 ? .goAway : .accept }
            for number in 1...600 { server.add(number) }
            server.run(until: 120_000)
            check(server.accepted.count == 600, server.state)
        }
    }

    /// Every kind at once, and then none.
    @Test func everythingAtOnce() {
        scenario("all-faults-for-five-minutes") { seed, check in
            let over: UInt64 = 300_000
            let kinds: [SimulatedAPNs.Reaction] = [
                .accept, .answer(busy), .answer(busy, closes: true), .answer(wrongKey), .lost, .unread, .goAway,
                .refuse,
                .answer(PushAnswer(status: 429, reason: "TooManyRequests")), .answer(expiredToken),
                .answer(PushAnswer(status: 500)),
            ]
            let server = SimulatedAPNs(seed) {
                // The same fault for some seconds, for some of the tokens.
                guard $0.time < over else { return .accept }
                let kind = kinds[Int(($0.time / 7000 + seed) % UInt64(kinds.count))]
                return $0.random < 0.7 ? kind : .accept
            }
            for number in 1...2000 { server.add(number, at: UInt64(number) * 150) }
            server.run(until: over + 60_000)
            check(server.accepted.count > 1980, server.state)
            // Messages that were answered 429 wait longest.
            server.run(until: over + 900_000)
            check(server.accepted.count == 2000, server.state)
        }
    }

    /// Messages that wait use a part of the memory only.
    @Test func deferredMessagesAreBounded() {
        scenario("M1-reading-stops") { seed, check in
            let server = SimulatedAPNs(seed) { _ in
                .answer(PushAnswer(status: 429, reason: "TooManyRequests", retryAfter: 900_000))
            }
            for number in 1...40_000 { server.add(number) }
            server.run(until: 60_000)
            check((20_000...22_000).contains(server.dispatcher.unanswered), "\(server.dispatcher.unanswered) are read")
        }
    }

    @Test func tokenUpdatesForFiveMinutes() {
        scenario("new-429-token-updates-for-five-minutes") { seed, check in
            let over: UInt64 = 300_000
            let server = SimulatedAPNs(seed) {
                $0.time < over ? .answer(PushAnswer(status: 429, reason: "TooManyProviderTokenUpdates")) : .accept
            }
            for number in 1...300 { server.add(number) }
            recovers(server, 300, after: over, check)
            check(
                server.said.contains { $0.line.trouble.kind == .login }, "\(server.said.first?.line.trouble.text ?? "")"
            )
        }
    }

    @Test func idleTimeout() {
        scenario("new-idle-timeout") { seed, check in
            let server = SimulatedAPNs(seed) {
                $0.count.isMultiple(of: 50) ? .answer(PushAnswer(status: 400, reason: "IdleTimeout")) : .accept
            }
            for number in 1...1000 { server.add(number) }
            server.run(until: 30_000)
            check(server.accepted.count == 1000, server.state)
        }
    }

    @Test func badTopicBesideAGoodOne() {
        scenario("new-bad-topic-beside-a-good-one") { seed, check in
            let server = SimulatedAPNs(seed) { $0.token.hasPrefix("b") ? .answer(badToken) : .accept }
            for number in 1...1000 {
                let isBad = number % 10 == 3
                server.add(
                    number, to: isBad ? "b\(number)" : nil, at: UInt64(number) * 10, topic: isBad ? "bad" : "app")
            }
            server.run(until: 13_000)
            let late = server.accepted.map { $1 - UInt64($0) * 10 }.max() ?? 0
            check(server.accepted.count == 900 && late < 2000, "\(server.accepted.count) accepted, \(late) ms late")
        }
    }
}

/// Routes whose requests have many messages.
@Suite struct RelayScenarioTests {
    private func relay(_ seed: UInt64, _ react: @escaping (SimulatedAPNs.Request) -> SimulatedAPNs.Reaction)
        -> SimulatedAPNs
    {
        let server = SimulatedAPNs(seed, usesToken: false, { $0.mostMessages = 45 }, react: react)
        server.streams = 4
        return server
    }

    @Test func batchesAreFull() {
        scenario("relay-batches-are-full") { seed, check in
            let server = relay(seed) { _ in .accept }
            for number in 1...2000 { server.add(number) }
            server.run(until: 5000)
            check(server.accepted.count == 2000 && server.sent <= 60, "\(server.sent) requests, \(server.state)")
        }
    }

    @Test func aTrickleWaitsBriefly() {
        scenario("relay-trickle") { seed, check in
            let server = relay(seed) { _ in .accept }
            for number in 1...500 { server.add(number, at: UInt64(number) * 3) }
            server.run(until: 3000)
            let late = server.accepted.map { $1 - UInt64($0) * 3 }.max() ?? 0
            check(server.accepted.count == 500 && late < 250, "\(late) ms late, \(server.sent) requests")
        }
    }

    @Test func connectionsBreak() {
        scenario("relay-breaks") { seed, check in
            let server = relay(seed) { $0.random < 0.01 ? .lost : .accept }
            for number in 1...2000 { server.add(number) }
            server.run(until: 200_000)
            check(server.accepted.count == 2000 && server.taken.values.allSatisfy { $0 <= 6 }, server.state)
        }
    }

    @Test func saysBusyToRequests() {
        scenario("relay-says-503-to-requests") { seed, check in
            let over: UInt64 = 60_000
            var away = PushAnswer(status: 503, reason: "relay-unavailable", retryAfter: 5000)
            (away.isRelays, away.isWhole) = (true, true)
            let server = relay(seed) { [away] in $0.time < over ? .answer(away) : .accept }
            for number in 1...500 { server.add(number) }
            server.run(until: over)
            check(server.sent <= 20, "\(server.sent) requests")
            server.run(until: over + 15_000)
            check(server.accepted.count == 500, server.state)
        }
    }

    @Test func aProxyTakesLess() {
        scenario("relay-behind-a-proxy-that-takes-less") { seed, check in
            var large = PushAnswer(status: 413, reason: "too-large")
            (large.isRelays, large.isWhole) = (true, true)
            let server = relay(seed) { [large] in $0.batch > 20 ? .answer(large) : .accept }
            for number in 1...500 { server.add(number) }
            server.run(until: 10_000)
            check(server.accepted.count == 500, server.state)
        }
    }
}

import Pushcrypt
import Seed
import Testing

@testable import PushcryptKeyStore

/// Messages, copies, withdrawals and drops in any order, in deliveries that are suspended at any step and ended at any step.
/// A phone that follows the guard is compared with a list of facts that knows no guard.
struct WithdrawalOrderTests {
    @Test func aThousandOrdersLeaveOnTheScreenWhatTheyShould() throws {
        var random = Seed(7)
        let pool = Pool()
        var tally = Tally()
        for order in 0..<1000 {
            var world = World(MemoryGuard(rows: try .inMemory(), pool: pool), pool, &random)
            world.run(&random, &tally)
            try #require(world.faults.isEmpty, "order \(order): \(world.faults)")
        }
        tally.expectEverything()
        print("interleavings: withdrawals in memory: 1000")
        print("of these orders: \(tally)")
    }

    /// The same on the file that phones have.
    @Test func aHundredOrdersOnAFile() throws {
        var random = Seed(8)
        let pool = Pool()
        var tally = Tally()
        for order in 0..<100 {
            let scratch = try Scratch()
            _ = try SQLiteKeyStore.create(in: scratch.store, passphrase: nil, options: .quick)
            var world = World(
                FileGuard(file: try ExtensionDatabase.create(in: scratch.store, floor: start).replay, pool: pool), pool,
                &random)
            world.run(&random, &tally)
            try #require(world.faults.isEmpty, "order \(order): \(world.faults)")
        }
        print("interleavings: withdrawals on a file: 100")
    }
}

/// Withdrawals on the file that phones have.
struct WithdrawalFileTests: ReplayGuardSuite {
    /// More than a guard has room for: the last stay withdrawn, and no other message is hidden.
    @Test func sixThousandWithdrawals() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(take(file, 17), .new)
        expect(handOver(file, 17), rings: true)
        for batch in 0..<94 as Range<UInt64> {
            let ids = (0..<64).map { MessageID(1000 + batch * 64 + $0) } + (batch == 50 ? [MessageID(17)] : [])
            let sentAt = start + 2 + batch
            let message = ReplayMessage(
                MessageID(100_000 + batch), from: provider, epoch: 0, trustFloor: 0, to: "default", requestID: "w",
                sentAt: sentAt,
                expiresAt: sentAt + 600, withdrawing: ids)
            let taking = file.take(message, at: sentAt)
            #expect(taking.problem == nil && taking.verdict == .new)
            #expect(taking.withdrawn.contains(self.message(17).mark) == (batch >= 50))
        }
        let now = start + 200
        expect(take(file, 17, request: "again", at: now), .withdrawn)
        for id in [7015, 5000] as [UInt64] { expect(take(file, id, sentAt: start + 150, at: now), .withdrawn) }
        expect(take(file, 500, sentAt: now, at: now), .new)
        expect(handOver(file, 500), rings: true)
    }

    @Test func aWithdrawalIsOneTransactionWithItsMessage() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(take(file, 17), .new)
        let withdrawal = ReplayMessage(
            MessageID(1), from: provider, epoch: 0, trustFloor: 0, to: "default", requestID: "w", sentAt: start + 1,
            expiresAt: start + 600,
            withdrawing: [MessageID(17)])
        let lock = try SQLiteConnection(path: scratch.store + "/extension.db", busyTimeout: 0)
        try lock.execute("BEGIN IMMEDIATE")
        let brief = open(scratch.store, waiting: 0)
        let taking = brief.take(withdrawal, at: start + 1)
        #expect(taking.problem?.code == .storeBusy && taking.verdict == .new && taking.withdrawn.isEmpty)
        try lock.execute("ROLLBACK")
        expect(handOver(file, 17), rings: true)
        #expect(brief.claimAndCommit(withdrawal, at: start + 1).taking.withdrawn == [message(17).mark])
        #expect(file.withdrawn() == [message(17).mark])
    }
}

/// The guard as a delivery uses it; messages are known by their names in the pool.
private protocol OrderGuard {
    func take(_ push: Pool.Push) -> (verdict: ReplayVerdict, withdrawn: Set<Int>)
    func handOver(_ push: Pool.Push, _ verdict: ReplayVerdict) -> ReplayRules.Handover
    func withdrawn() -> Set<Int>
}

private struct MemoryGuard: OrderGuard {
    let rows: ReplayTables
    let pool: Pool

    func take(_ push: Pool.Push) -> (verdict: ReplayVerdict, withdrawn: Set<Int>) {
        do {
            return (try ReplayRules.take(push.message, in: rows, at: start + 5).verdict, withdrawn())
        } catch {
            Issue.record(error)
            return (.new, [])
        }
    }

    func handOver(_ push: Pool.Push, _ verdict: ReplayVerdict) -> ReplayRules.Handover {
        do {
            return try ReplayRules.handOver(push.message, verdict, in: rows, at: start + 5)
        } catch {
            Issue.record(error)
            return .quiet
        }
    }

    func withdrawn() -> Set<Int> { (try? rows.withdrawn()).map(pool.names(of:)) ?? [] }
}

private struct FileGuard: OrderGuard {
    let file: ReplayGuard
    let pool: Pool

    func take(_ push: Pool.Push) -> (verdict: ReplayVerdict, withdrawn: Set<Int>) {
        let taking = file.take(push.message, at: start + 5)
        return (taking.verdict, pool.names(of: taking.withdrawn))
    }

    func handOver(_ push: Pool.Push, _ verdict: ReplayVerdict) -> ReplayRules.Handover {
        let handover = file.handOver(push.message, after: verdict, at: start + 5)
        return handover.isWithdrawn ? .withdrawn : handover.rings ? .rings : .quiet
    }

    func withdrawn() -> Set<Int> { pool.names(of: file.withdrawn()) }
}

/// Counts over all orders.
private struct Tally: CustomStringConvertible {
    var deliveries = 0
    var restarts = 0
    var removed = 0
    var hidden = 0
    var dropped = 0
    var shown = 0

    var description: String {
        "\(deliveries) deliveries, \(restarts) restarts, \(shown) shown, \(removed) removed, \(hidden) withdrawn, \(dropped) dropped"
    }

    func expectEverything() {
        for count in [deliveries, restarts, removed, hidden, dropped, shown] { #expect(count > 200, "\(self)") }
    }
}

/// The messages that orders draw from: of two providers, some withdrawing others, under every request.
private struct Pool {
    struct Push {
        let message: ReplayMessage
        /// Names the message among all.
        let name: Int
        let request: Int
        /// The names of what it withdraws, its own not among them.
        let withdraws: [Int]
        let isDropped: Bool
    }

    static let requests = 3
    /// Each message under each request.
    let pushes: [Push]
    /// Each message once.
    let messages: [Push]
    let providers = [ProviderKey().publicKey, ProviderKey().publicKey]

    init() {
        var pushes: [Push] = []
        for (number, provider) in providers.enumerated() {
            for id in 0..<6 {
                // The ids are the same for both providers; some withdraw what never comes (9).
                let ids: [Int] = [[], [], [0], [0, 1, 9], [1, 2, 5], [9]][id]
                for request in 0..<Self.requests {
                    let message = ReplayMessage(
                        MessageID(UInt64(id)), from: provider, epoch: 0, trustFloor: 0, to: "anna",
                        requestID: "request \(request)",
                        sentAt: start + UInt64(1 + id), expiresAt: start + 600,
                        withdrawing: ids.map { MessageID(UInt64($0)) })
                    pushes.append(
                        Push(
                            message: message, name: number * 10 + id, request: request,
                            withdraws: ids.map { number * 10 + $0 }, isDropped: id == 5))
                }
            }
        }
        self.pushes = pushes
        messages = pushes.filter { $0.request == 0 }
    }

    func names(of marks: Set<MessageMark>) -> Set<Int> {
        marks.isEmpty ? [] : Set(messages.filter { marks.contains($0.message.mark) }.map(\.name))
    }
}

/// A phone: its screen, and the deliveries in progress.
private struct World<Guard: OrderGuard> {
    /// The notification shown for a request.
    private enum Shown: Equatable {
        case message(Int)
        /// The placeholder or a fallback.
        case unopened
    }

    private struct Delivery {
        let push: Pool.Push
        var step = 0
        var verdict = ReplayVerdict.new
        var toRemove: Set<Int> = []
        /// nil for nothing.
        var content: Shown?
        var rings = false
    }

    private var rows: Guard
    private let pool: Pool
    /// Whether the app may show nothing.
    private let mayHide: Bool
    private var inProgress: [Delivery] = []
    private var screen = [Shown?](repeating: nil, count: Pool.requests)
    // Known without a guard.
    private var withdrawn: Set<Int> = []
    private var rung: Set<Int> = []
    private(set) var faults: [String] = []

    init(_ rows: Guard, _ pool: Pool, _ random: inout Seed) {
        self.rows = rows
        self.pool = pool
        mayHide = random.next() % 2 == 0
    }

    mutating func run(_ random: inout Seed, _ tally: inout Tally) {
        for _ in 0..<4 + random.next() % 5 {
            let push = pool.pushes[Int(random.next() % UInt64(pool.pushes.count))]
            inProgress.append(Delivery(push: push))
            tally.deliveries += 1
            // Those that do not come on are suspended.
            for _ in 0..<random.next() % 6 { step(Int(random.next() % 4), &tally) }
            if random.next() % 12 == 0 { restart(&tally) }
        }
        while !inProgress.isEmpty { step(0, &tally) }
        launch(&tally)
    }

    /// One step of one delivery.
    private mutating func step(_ number: Int, _ tally: inout Tally) {
        guard number < inProgress.count else { return }
        var delivery = inProgress[number]
        let push = delivery.push
        delivery.step += 1
        switch delivery.step {
        case 1:
            (delivery.verdict, delivery.toRemove) = rows.take(push)
            withdrawn.formUnion(push.withdraws)
            let isExpected = delivery.verdict == .withdrawn
            if isExpected != withdrawn.contains(push.name), !push.withdraws.contains(push.name) {
                faults.append("\(push.name) has the verdict \(delivery.verdict)")
            }
        case 2: remove(delivery.toRemove, &tally)
        case 3: handOver(&delivery, &tally)
        default:
            inProgress.remove(at: number)
            if let content = delivery.content {
                screen[push.request] = content
                tally.shown += 1
            }
            return
        }
        inProgress[number] = delivery
    }

    private mutating func handOver(_ delivery: inout Delivery, _ tally: inout Tally) {
        let push = delivery.push
        let isWithdrawn = withdrawn.contains(push.name)
        if push.isDropped, mayHide, !isWithdrawn {
            tally.dropped += 1
            return
        }
        let handover = rows.handOver(push, delivery.verdict)
        if (handover == .withdrawn) != isWithdrawn { faults.append("\(push.name) is handed over as \(handover)") }
        if handover == .rings, !rung.insert(push.name).inserted { faults.append("\(push.name) rings twice") }
        if handover == .quiet, !rung.contains(push.name) { faults.append("\(push.name) never rang") }
        delivery.content = handover == .withdrawn ? (mayHide ? nil : .unopened) : .message(push.name)
        if isWithdrawn { tally.hidden += 1 }
    }

    /// Ends every delivery: the system shows the pushes as they came.
    private mutating func restart(_ tally: inout Tally) {
        tally.restarts += 1
        for delivery in inProgress { screen[delivery.push.request] = .unopened }
        inProgress = []
    }

    /// Removes what shows one of these messages.
    private mutating func remove(_ messages: Set<Int>, _ tally: inout Tally) {
        guard !messages.isEmpty else { return }
        for request in screen.indices {
            guard case .message(let name) = screen[request], messages.contains(name) else { continue }
            screen[request] = nil
            tally.removed += 1
        }
    }

    /// The app is opened.
    private mutating func launch(_ tally: inout Tally) {
        let before = screen
        remove(rows.withdrawn(), &tally)
        for request in screen.indices {
            let isGone: Bool
            if case .message(let name) = before[request] { isGone = withdrawn.contains(name) } else { isGone = false }
            if screen[request] != (isGone ? nil : before[request]) {
                faults.append("\(request) showed \(before[request] as Any), then \(screen[request] as Any)")
            }
        }
    }
}

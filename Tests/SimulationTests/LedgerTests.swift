import Testing

/// Each rule of the oracle fires on a story that breaks it, and on no other.
@Suite struct LedgerTests {
    private static let day: Int64 = 86_400_000

    /// A phone is logged in, and one message is sealed, sent and answered.
    private static func story() -> Ledger {
        var ledger = Ledger()
        ledger.began(1, of: "anna", app: 1, at: "server")
        ledger.heard(1, at: 10)
        ledger.sealed(Ledger.Message(number: 1, login: 1, name: "order", sealedAt: 0, epoch: 5, key: "key"))
        ledger.sent(1)
        ledger.answered(1)
        return ledger
    }

    private static let opened = Ledger.Arrival(code: "opened", rings: true, floor: 5, clock: 1)

    @Test func aGoodStoryBreaksNoRule() {
        var ledger = Self.story()
        ledger.arrived(1, Self.opened)
        ledger.arrived(1, Ledger.Arrival(code: "opened", clock: 2))
        ledger.responded(1, at: 3)
        ledger.handled(1, at: 4, throws: false)
        ledger.server("server", has: [1])
        ledger.quiet([1], [1])
        #expect(ledger.violations.isEmpty)
    }

    private typealias Story = (name: String, rule: Ledger.Rule, tell: @Sendable (inout Ledger) -> Void)

    private static let stories: [Story] = [
        ("a line is answered twice", .answeredOnce, { $0.answered(1) }),
        (
            "a line is never answered", .answeredOnce,
            {
                $0.arrived(1, opened)
                $0.sent(2)
                $0.quiet([], [])
            }
        ),
        (
            "a message rings twice", .ringsOnce,
            {
                $0.arrived(1, opened)
                $0.arrived(1, opened)
            }
        ),
        (
            "a name rings twice", .ringsOnce,
            {
                $0.arrived(1, opened)
                $0.sealed(Ledger.Message(number: 2, login: 1, name: "order", sealedAt: 9, epoch: 5))
                $0.arrived(2, opened)
            }
        ),
        ("a device is lost", .nothingLost, { $0.server("server", has: []) }),
        ("a message is lost", .nothingLost, { $0.quiet([], []) }),
        ("a fresh message expires", .nothingLost, { $0.arrived(1, Ledger.Arrival(code: "expired", clock: day)) }),
        (
            "a key ends a day early", .nothingLost,
            {
                $0.retired("key", at: -2 * day)
                $0.arrived(1, Ledger.Arrival(code: "unknown-recipient-key", clock: 28 * day))
            }
        ),
        (
            "an epoch ends early", .nothingLost,
            {
                $0.rotated("server", from: 5, to: 6, floor: 5, at: 0)
                $0.arrived(1, Ledger.Arrival(code: "authentication-failed", clock: 29 * day))
            }
        ),
        (
            "a response is lost", .nothingLost,
            {
                $0.arrived(1, opened)
                $0.responded(1, at: 2)
                $0.handled(1, at: 3, throws: true)
                $0.quiet([], [])
            }
        ),
        (
            "an epoch opens below the floor", .floor,
            {
                $0.sealed(Ledger.Message(number: 2, login: 1, name: "2", sealedAt: 0, epoch: 9))
                $0.arrived(2, Ledger.Arrival(code: "opened", floor: 9, clock: 0))
                $0.arrived(1, opened)
            }
        ),
        (
            "a thief without a key opens", .thief,
            {
                $0.sealed(Ledger.Message(number: 2, login: 1, name: "2", sealedAt: 0, epoch: 5, isForged: true))
                $0.arrived(2, opened)
            }
        ),
        (
            "a thief opens after the theft was noticed", .thief,
            {
                $0.signingKeyStolen("server", 5)
                $0.rotated("server", from: 5, to: 6, floor: 6, stolen: true, at: 0)
                $0.sealed(Ledger.Message(number: 2, login: 1, name: "2", sealedAt: 0, epoch: 6))
                $0.arrived(2, Ledger.Arrival(code: "opened", clock: 0))
                $0.sealed(Ledger.Message(number: 3, login: 1, name: "3", sealedAt: 0, epoch: 5, isForged: true))
                $0.arrived(3, Ledger.Arrival(code: "opened", clock: 0))
            }
        ),
        ("two devices have one token", .ringsOnce, { $0.server("server", hasRows: ["anna a", "bea a", "anna a"]) }),
        ("a thief changes a device", .thief, { $0.thief("changes a device") }),
        (
            "a message opens after a log-out", .logOut,
            {
                $0.ended(1)
                $0.arrived(1, opened)
            }
        ),
        (
            "a server has a token after a log-out", .logOut,
            {
                $0.ended(1)
                $0.remains("the token", of: 1)
            }
        ),
        ("a clock stops a rotation", .neverRefuses, { $0.refused("rotate") }),
        (
            "a fresh message is not shown", .quietHour,
            {
                $0.excuse(1)
                $0.quiet([1], [1])
            }
        ),
        (
            "nothing is sealed to a login", .quietHour,
            {
                $0.excuse(1)
                $0.quiet([], [1])
            }
        ),
    ]

    @Test func everyRuleFires() {
        for story in Self.stories {
            var ledger = Self.story()
            story.tell(&ledger)
            #expect(ledger.violations.map(\.rule) == [story.rule], "\(story.name)")
        }
        #expect(Set(Self.stories.map(\.rule)) == Set(Ledger.Rule.allCases))
    }
}

import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore

/// Behaviour of a session besides delivering once: time, copies, and release.
@Suite struct SessionTests {
    private typealias Kind = SessionOracle.Kind

    // MARK: Time

    @Test func theDeadlinesAre15And25SecondsUnlessTheAppSaysOtherwise() {
        let standard = SessionScene()
        standard.happen(.received, content: 0, kind: Kind())
        #expect(standard.clock.delays == [15_000, 25_000])
        let own = SessionScene(deadlines: DeliveryDeadlines(delivery: 2000, attachments: 700))
        own.happen(.received, content: 0, kind: Kind())
        #expect(own.clock.delays == [700, 2000])
    }

    @Test func theDeadlineComesToTheMillisecond() {
        let scene = SessionScene(deadlines: DeliveryDeadlines(delivery: 2000, attachments: 700))
        scene.happen(.received, content: 0, kind: Kind())
        scene.clock.advance(byMilliseconds: 1999)
        #expect(scene.delivered == [])
        scene.clock.advance(byMilliseconds: 1)
        #expect(scene.delivered == [.fallback("deadline")])
    }

    @Test func attachmentsAreGivenUpAtTheirDeadline() {
        let scene = SessionScene()
        let kind = Kind(hasAttachments: true)
        scene.happen(.received, content: 0, kind: kind)
        scene.clock.advance(byMilliseconds: 5000)
        scene.happen(.opened, content: 1, kind: kind)
        scene.clock.advance(byMilliseconds: 9999)
        #expect(scene.log == ["open", "attach"])
        scene.clock.advance(byMilliseconds: 1)
        #expect(scene.delivered == [.content(1, .openedWithoutAttachment)])
        // Stopping may take its time; the person does not wait for it.
        #expect(scene.log == ["open", "attach", "deliver", "stop"])
    }

    @Test func afterTheAttachmentDeadlineNothingIsFetched() {
        let scene = SessionScene()
        let kind = Kind(hasAttachments: true, isChanged: true)
        scene.happen(.received, content: 0, kind: kind)
        scene.clock.advance(byMilliseconds: 15_000)
        scene.happen(.opened, content: 1, kind: kind)
        #expect(scene.log == ["open", "change"])
        scene.happen(.changed, content: 2, kind: kind)
        #expect(scene.delivered == [.content(2, .openedWithoutAttachment)])
    }

    @Test func whatTheAppChangesIsWhatIsThereWhenAttachmentsAreGivenUp() {
        let scene = SessionScene()
        let kind = Kind(hasAttachments: true, isChanged: true)
        for happening in [.received, .opened] as [Happening] { scene.happen(happening, content: 1, kind: kind) }
        scene.clock.advance(byMilliseconds: 15_000)
        #expect(scene.log == ["open", "attach", "stop", "change"])
        scene.clock.advance(byMilliseconds: 10_000)
        #expect(scene.delivered == [.content(1, .openedWithoutAttachment)])
    }

    @Test(arguments: [.failed, .opened, .decided, .expired, .released] as [Happening])
    func theTimersGoWithTheDelivery(_ happening: Happening) {
        let scene = SessionScene()
        scene.happen(.received, content: 0, kind: Kind())
        #expect(scene.clock.waiting == 2)
        scene.happen(happening, content: 1, kind: Kind())
        #expect(scene.clock.waiting == 0)
        #expect(scene.delivered.count == 1)
    }

    /// A deadline of no time at all, on a clock that calls back before it returns.
    @Test func aDeadlineThatIsOverAtOnceOpensNothing() {
        struct HastyClock: DeliveryClock {
            struct Made: ScheduledCall { func cancel() {} }

            func schedule(
                afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
            ) -> any ScheduledCall {
                body()
                return Made()
            }
        }
        var log: [String] = []
        let session = DeliverySession<Int>(
            clock: HastyClock(),
            steps: DeliverySteps(
                open: { log.append("open") }, fallback: { _ in 0 }, deliver: { _, outcome in log.append("\(outcome)") })
        )
        session.receive()
        #expect(log == ["deadline"])
    }

    // MARK: Calling back

    /// Steps that finish before they return, all on one stack.
    @Test func aStepMayCallTheSessionBack() {
        final class Later { weak var session: DeliverySession<Int>? }
        let later = Later()
        var delivered: [Due] = []
        var stops = 0
        let session = DeliverySession<Int>(
            clock: HandClock(),
            steps: DeliverySteps(
                open: {
                    later.session?.receive()
                    later.session?.handle(.opened(1, .init(hasAttachments: true, isChanged: true)))
                },
                attach: { later.session?.handle(.attached($0 + 10, isComplete: true)) },
                stopAttaching: { stops += 1 },
                change: { later.session?.handle(.changed($0 + 100)) },
                fallback: { _ in 0 },
                deliver: { content, outcome in
                    delivered.append(.content(content, outcome))
                    #expect(later.session?.isOver == true)
                    later.session?.handle(.expired)
                    later.session?.handle(.opened(2, .init()))
                }))
        later.session = session
        session.receive()
        #expect(delivered == [.content(111, .opened)])
        #expect(stops == 0)
    }

    /// The time ends on another thread while fetching is about to begin: who stops it then finds nothing to stop.
    @Test func fetchingThatBeginsTooLateIsStoppedToo() {
        final class Later { weak var session: DeliverySession<Int>? }
        let later = Later()
        var log: [String] = []
        let session = DeliverySession<Int>(
            clock: HandClock(),
            steps: DeliverySteps(
                open: {},
                attach: { _ in
                    later.session?.handle(.expired)
                    log.append("fetching")
                }, stopAttaching: { log.append("stop") }, fallback: { _ in 0 },
                deliver: { content, outcome in log.append("\(content) \(outcome)") }))
        later.session = session
        session.receive()
        session.handle(.opened(1, .init(hasAttachments: true)))
        #expect(log == ["1 opened-without-attachment", "stop", "fetching", "stop"])
    }

    /// Content of an app's own class may do anything when it goes; here the text without attachments goes first.
    @Test func contentMayCallTheSessionWhenItGoes() {
        final class Later {
            weak var session: DeliverySession<Talker>?
            var isListening = false
        }
        final class Talker {
            let later: Later
            init(_ later: Later) { self.later = later }
            deinit { if later.isListening { later.session?.handle(.expired) } }
        }
        let later = Later()
        var outcomes: [Delivery.Outcome] = []
        let session = DeliverySession<Talker>(
            clock: HandClock(), freeze: { Talker($0.later) },
            steps: DeliverySteps(open: {}, fallback: { _ in Talker(later) }, deliver: { outcomes.append($1) }))
        later.session = session
        session.receive()
        session.handle(.opened(Talker(later), .init(hasAttachments: true, isChanged: true)))
        later.isListening = true
        let attached = Talker(later)
        session.handle(.attached(attached, isComplete: true))
        #expect(outcomes == [.opened])
        withExtendedLifetime(attached) {}
    }

    // MARK: Frozen content

    /// Incoming and outgoing content is changed at once by its holders; see `SessionScene`.
    @Test(arguments: Kind.all)
    func nobodyChangesWhatIsDeliveredOnceItHasComeIn(_ kind: SessionOracle.Kind) {
        let scene = SessionScene()
        let happenings: [Happening] = [.received, .opened, .attachmentDone, .expired]
        for (place, happening) in happenings.enumerated() {
            scene.happen(happening, content: place, kind: kind)
        }
        #expect(scene.delivered == [.content(kind.hasAttachments ? 2 : 1, .opened)])
    }

    @Test func theSessionCallsForNoCopyUnderItsLock() {
        final class Later { weak var session: DeliverySession<Slip>? }
        final class Copies: @unchecked Sendable {
            var count = 0
            let later = Later()
        }
        let copies = Copies()
        let session = DeliverySession<Slip>(
            clock: HandClock(),
            freeze: { slip in
                copies.count += 1
                _ = copies.later.session?.isOver
                return Slip(slip.number)
            }, steps: DeliverySteps(open: {}, fallback: { _ in Slip(0) }, deliver: { _, _ in }))
        copies.later.session = session
        session.receive()
        session.handle(.opened(Slip(1), .init()))
        #expect(copies.count == 2)
    }

    // MARK: Letting go

    /// A content handler holds the extension's memory.
    @Test(arguments: [.failed, .opened, .expired] as [Happening])
    func theStepsAreLetGoWithTheDelivery(_ happening: Happening) throws {
        final class Handler {}
        weak var handler: Handler?
        let session: DeliverySession<Int> = {
            let strong = Handler()
            handler = strong
            return DeliverySession(
                clock: HandClock(),
                steps: DeliverySteps(
                    open: {}, fallback: { _ in 0 }, deliver: { _, _ in withExtendedLifetime(strong) {} }))
        }()
        session.receive()
        #expect(handler != nil)
        session.handle(try #require(happening.event(1, Kind())))
        #expect(session.isOver)
        #expect(handler == nil)
    }

    /// Steps that hold their session, against the advice, hold it until the deadline and no longer.
    @Test func aCycleEndsWithTheDeadline() {
        final class Later { var session: DeliverySession<Int>? }
        let clock = HandClock()
        weak var session: DeliverySession<Int>?
        var outcomes: [String] = []
        do {
            let later = Later()
            let made = DeliverySession<Int>(
                clock: clock,
                steps: DeliverySteps(
                    open: { _ = later.session }, fallback: { _ in 0 }, deliver: { outcomes.append("\($1)") }))
            later.session = made
            session = made
            made.receive()
        }
        #expect(session != nil)
        clock.advance(byMilliseconds: 25_000)
        #expect(outcomes == ["deadline"])
        #expect(session == nil)
    }

    @Test func aSessionThatIsLetGoDeliversWhatItHas() {
        for (happenings, due) in [
            ([.received, .released], [.fallback("abandoned")]),
            ([.received, .opened, .released], [.content(1, .openedWithoutAttachment)]),
            ([.received, .opened, .attachmentDone, .released], [.content(2, .opened)]),
            ([.released], []),
        ] as [([Happening], [Due])] {
            let scene = SessionScene()
            for (place, happening) in happenings.enumerated() {
                scene.happen(happening, content: place, kind: Kind(hasAttachments: true, isChanged: true))
            }
            #expect(scene.delivered == due)
        }
    }

    // MARK: Names

    @Test func outcomesHaveTheCodesThatProgramsRead() {
        let reason = Delivery.Reason(code: "expired", description: "because")
        let codes: [Delivery.Outcome: String] = [
            .opened: "opened", .openedWithoutAttachment: "opened-without-attachment", .passed: "passed",
            .suppressed: "suppressed", .fallback(reason): "expired",
        ]
        for (outcome, code) in codes { #expect(outcome.description == code) }
    }
}

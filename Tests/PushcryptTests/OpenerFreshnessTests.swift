import Testing

@testable import Pushcrypt

/// A message lives from 24 hours before it was sent, because clocks are wrong, to the end of its time to live.
/// (`Docs/Format.md`, O-6.3, O-6.4)
@Suite struct OpenerFreshnessTests {
    private static let sentAt = FormatFixture.now
    private static let day = FormatFixture.day

    private static func code(at now: Timestamp, sentAt: Timestamp = sentAt, timeToLive: UInt32) throws -> OpenError
        .Code?
    {
        var options = Sealer.Options()
        // The end of any other is rounded.
        options.pushType = .voip
        options.timeToLive = .seconds(UInt64(timeToLive))
        let fixture = try FormatFixture()
        let text = try fixture.seal(alertPayload(), at: sentAt, options: options).envelope.text
        return fixture.refusal(of: Bytes(text.utf8), at: now, as: .call)
    }

    private static func before(_ time: Timestamp, _ milliseconds: UInt64) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds - milliseconds)
    }

    @Test(arguments: [(1, 1000), (60, 60_000), (2_592_000, 2_592_000_000)] as [(UInt32, UInt64)])
    func aMessageOpensUpToTheLastMillisecondOfItsLife(_ timeToLive: UInt32, _ milliseconds: UInt64) throws {
        #expect(try Self.code(at: Self.sentAt, timeToLive: timeToLive) == nil)
        #expect(try Self.code(at: Self.sentAt.adding(milliseconds: milliseconds), timeToLive: timeToLive) == nil)
        #expect(
            try Self.code(at: Self.sentAt.adding(milliseconds: milliseconds + 1), timeToLive: timeToLive) == .expired)
        #expect(try Self.code(at: .maximum, timeToLive: timeToLive) == .expired)
        #expect(try Self.code(at: Timestamp(milliseconds: .max), timeToLive: timeToLive) == .expired)
    }

    @Test(arguments: [1, 2_592_000] as [UInt32])
    func aMessageOpensOnAClockThatIs24HoursLate(_ timeToLive: UInt32) throws {
        #expect(try Self.code(at: Self.before(Self.sentAt, Self.day), timeToLive: timeToLive) == nil)
        #expect(try Self.code(at: Self.before(Self.sentAt, Self.day + 1), timeToLive: timeToLive) == .notYetValid)
        #expect(try Self.code(at: Timestamp(milliseconds: 0), timeToLive: timeToLive) == .notYetValid)
    }

    /// At both ends of time nothing overflows.
    @Test func theEndsOfTimeAreOrdinaryTimes() throws {
        let zero = Timestamp(milliseconds: 0)
        #expect(try Self.code(at: zero, sentAt: zero, timeToLive: 1) == nil)
        #expect(try Self.code(at: zero.adding(milliseconds: 1001), sentAt: zero, timeToLive: 1) == .expired)
        #expect(try Self.code(at: .maximum, sentAt: .maximum, timeToLive: 2_592_000) == nil)
        #expect(try Self.code(at: Timestamp(milliseconds: .max), sentAt: .maximum, timeToLive: 1) == .expired)
        #expect(try Self.code(at: zero, sentAt: .maximum, timeToLive: 1) == .notYetValid)
    }

    @Test func theReasonNamesTheTimesSoThatAClockCanBeFixed() throws {
        let fixture = try FormatFixture()
        let sealed = try fixture.seal(alertPayload(), at: Timestamp(milliseconds: 1_790_000_000_000))
        let late = Timestamp(milliseconds: 1_800_000_000_000)
        let expired = #expect(throws: OpenError.self) { try fixture.opener().open(sealed.json, at: late) }
        #expect(expired?.description.contains("2026-09-21T14:13:20Z") == true)
        #expect(expired?.description.contains("2027-01-15T08:00:00Z") == true)
        #expect(expired?.description.contains("2591800 seconds") == true)
    }
}

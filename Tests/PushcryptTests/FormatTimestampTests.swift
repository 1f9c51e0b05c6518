import Testing

@testable import Pushcrypt

/// Moments in milliseconds since 1970, and what a person reads of them.
@Suite struct FormatTimestampTests {
    /// From `date -u -d @SECONDS`.
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (59_999, "1970-01-01T00:00:59Z"), (86_399_000, "1970-01-01T23:59:59Z"),
            (68_169_600_000, "1972-02-29T00:00:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"), (1_767_225_599_999, "2025-12-31T23:59:59Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00Z"), (1_790_000_000_000, "2026-09-21T14:13:20Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59Z"), (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59Z"), (253_402_300_800_000, "10000-01-01T00:00:00Z"),
            (9_007_199_254_740_991, "287396-10-12T08:59:00Z"), (UInt64.max, "584556019-04-03T14:25:51Z"),
        ] as [(UInt64, String)])
    func aMomentIsWrittenInUTC(_ milliseconds: UInt64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
    }

    @Test(
        arguments: [
            (0, 0), (1.5, 1500), (0.0004, 0), (1_790_000_000.25, 1_790_000_000_250), (-1, 0), (-.infinity, 0),
            (.nan, 0),
            (9_007_199_254_740.5, 9_007_199_254_740_500), (9_007_199_254_741, 9_007_199_254_740_991),
            (.infinity, 9_007_199_254_740_991), (1e300, 9_007_199_254_740_991),
        ] as [(Double, UInt64)])
    func secondsOfAClockBecomeTheNearestMomentThereIs(_ seconds: Double, _ milliseconds: UInt64) {
        #expect(Timestamp(secondsSince1970: seconds).milliseconds == milliseconds)
    }

    @Test func sumsStayAtTheEndOfTime() {
        let end = Timestamp(milliseconds: .max)
        #expect(end.adding(milliseconds: 1) == end)
        #expect(end.adding(seconds: 1) == end)
        #expect(Timestamp(milliseconds: 1).adding(seconds: .max) == end)
        #expect(Timestamp(milliseconds: 0).adding(seconds: .max / 1000) < end)
        #expect(Timestamp(milliseconds: 500).adding(seconds: 2).milliseconds == 2500)
        #expect(Timestamp(milliseconds: 500).adding(milliseconds: 2).milliseconds == 502)
    }

    @Test func aDifferenceIsNeverNegative() {
        let (early, late) = (Timestamp(milliseconds: 10), Timestamp(milliseconds: 25))
        #expect(late.milliseconds(since: early) == 15)
        #expect(early.milliseconds(since: late) == 0)
        #expect(early.milliseconds(since: early) == 0)
        #expect(early < late && !(late < early) && !(early < early))
    }
}

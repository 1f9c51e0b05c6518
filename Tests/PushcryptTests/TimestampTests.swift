import Pushcrypt
import Testing

/// Moments: from seconds, as text, and arithmetic that stops at the ends.
@Suite struct TimestampTests {
    /// Made with Python's `datetime`; beyond the year 9999 by adding whole cycles of 400 years.
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"),
            (999, "1970-01-01T00:00:00Z"),
            (1000, "1970-01-01T00:00:01Z"),
            (86_399_999, "1970-01-01T23:59:59Z"),
            (86_400_000, "1970-01-02T00:00:00Z"),
            (68_214_896_000, "1972-02-29T12:34:56Z"),
            (946_684_799_000, "1999-12-31T23:59:59Z"),
            (946_684_800_000, "2000-01-01T00:00:00Z"),
            (951_782_399_000, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"),
            (978_220_800_000, "2000-12-31T00:00:00Z"),
            (1_000_000_000_000, "2001-09-09T01:46:40Z"),
            (1_709_251_199_000, "2024-02-29T23:59:59Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00Z"),
            (1_795_182_540_000, "2026-11-20T13:49:00Z"),
            (2_147_483_648_000, "2038-01-19T03:14:08Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (13_574_585_228_000, "2400-02-29T06:07:08Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59Z"),
            (253_402_300_800_000, "10000-01-01T00:00:00Z"),
            (9_007_199_254_740_991, "287396-10-12T08:59:00Z"),
            (.max, "584556019-04-03T14:25:51Z"),
        ] as [(UInt64, String)])
    func textIsTheDateInUTC(milliseconds: UInt64, text: String) {
        #expect("\(Timestamp(milliseconds: milliseconds))" == text)
    }

    @Test(
        arguments: [
            (0, 0), (-0.0, 0), (0.0004, 0), (0.001, 1), (1, 1000), (1.5, 1500), (1_795_182_540, 1_795_182_540_000),
            (-1, 0), (-0.001, 0), (-.greatestFiniteMagnitude, 0), (-.infinity, 0), (.nan, 0), (-.nan, 0),
            (.signalingNaN, 0), (.leastNonzeroMagnitude, 0),
            (9_007_199_254_740, 9_007_199_254_740_000), (9_007_199_254_741, 9_007_199_254_740_991),
            (1e19, 9_007_199_254_740_991), (.greatestFiniteMagnitude, 9_007_199_254_740_991),
            (.infinity, 9_007_199_254_740_991),
        ] as [(Double, UInt64)])
    func secondsBecomeTheNearestMomentThatExists(seconds: Double, milliseconds: UInt64) {
        #expect(Timestamp(secondsSince1970: seconds).milliseconds == milliseconds)
    }

    /// 1.001 * 1000 is a little less than 1001.
    @Test func momentSurvivesTheTripThroughSeconds() {
        #expect(Timestamp(secondsSince1970: 1.001).milliseconds == 1001)
        for milliseconds in stride(from: UInt64(0), through: 253_402_300_799_999, by: 253_402_300_799) {
            let seconds = Double(milliseconds) / 1000
            #expect(Timestamp(secondsSince1970: seconds).milliseconds == milliseconds)
        }
    }

    @Test(
        arguments: [
            (0, 0, 0), (1, 2, 3), (.max - 1, 1, .max), (.max, 0, .max), (.max, 1, .max), (1, .max, .max),
            (.max, .max, .max),
        ] as [(UInt64, UInt64, UInt64)])
    func addingMillisecondsStopsAtTheEnd(start: UInt64, more: UInt64, end: UInt64) {
        #expect(Timestamp(milliseconds: start).adding(milliseconds: more).milliseconds == end)
    }

    @Test(
        arguments: [
            (0, 0, 0), (1, 2, 2001), (615, 18_446_744_073_709_551, .max), (616, 18_446_744_073_709_551, .max),
            (614, 18_446_744_073_709_551, .max - 1), (0, 18_446_744_073_709_552, .max), (0, .max, .max),
            (.max, .max, .max),
        ] as [(UInt64, UInt64, UInt64)])
    func addingSecondsStopsAtTheEnd(start: UInt64, more: UInt64, end: UInt64) {
        #expect(Timestamp(milliseconds: start).adding(.seconds(more)).milliseconds == end)
    }

    @Test(
        arguments: [
            (5, 3, 2), (3, 3, 0), (3, 5, 0), (.max, 0, .max), (0, .max, 0),
        ] as [(UInt64, UInt64, UInt64)])
    func differenceIsNeverNegative(moment: UInt64, earlier: UInt64, difference: UInt64) {
        let moment = Timestamp(milliseconds: moment)
        #expect(moment.milliseconds(since: Timestamp(milliseconds: earlier)) == difference)
    }
}

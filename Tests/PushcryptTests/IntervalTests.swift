import Pushcrypt
import Testing

@Suite struct IntervalTests {
    @Test func unitsAreSecondsMinutesHoursAndDays() {
        #expect(Interval.seconds(7).seconds == 7)
        #expect(Interval.minutes(2).seconds == 120)
        #expect(Interval.hours(3).seconds == 10_800)
        #expect(Interval.days(31).seconds == 2_678_400)
        #expect(Interval.days(1) == .hours(24))
    }

    @Test func unitsStopAtTheLargestInterval() {
        #expect(Interval.seconds(.max).seconds == .max)
        #expect(Interval.minutes(.max / 60 + 1).seconds == .max)
        #expect(Interval.hours(.max).seconds == .max)
        #expect(Interval.days(.max / 86_400).seconds < .max)
    }

    @Test func intervalsAreOrderedByLength() {
        #expect(Interval.seconds(59) < .minutes(1))
        #expect(!(Interval.hours(1) < .minutes(60)))
    }

    @Test func momentsMoveByIntervals() {
        #expect(Timestamp(milliseconds: 5).adding(.seconds(2)).milliseconds == 2005)
        #expect(Timestamp(milliseconds: 5).adding(.seconds(.max)).milliseconds == .max)
        #expect(Timestamp(milliseconds: 2005).subtracting(.seconds(2)).milliseconds == 5)
        #expect(Timestamp(milliseconds: 2005).subtracting(.seconds(3)).milliseconds == 0)
        #expect(Timestamp(milliseconds: .max).subtracting(.seconds(.max)).milliseconds == 0)
    }
}

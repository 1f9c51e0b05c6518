/// A length of time in whole seconds.
public struct Interval: Hashable, Comparable, Sendable {
    /// The number of seconds.
    public let seconds: UInt64

    private init(_ count: UInt64, times unit: UInt64) {
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit)
        self.seconds = overflow ? .max : seconds
    }

    /// Creates an interval of `count` seconds.
    public static func seconds(_ count: UInt64) -> Interval { Interval(count, times: 1) }

    /// Creates an interval of `count` minutes; stops at the largest value instead of overflowing.
    public static func minutes(_ count: UInt64) -> Interval { Interval(count, times: 60) }

    /// Creates an interval of `count` hours; stops at the largest value instead of overflowing.
    public static func hours(_ count: UInt64) -> Interval { Interval(count, times: 3600) }

    /// Creates an interval of `count` days of 24 hours; stops at the largest value instead of overflowing.
    public static func days(_ count: UInt64) -> Interval { Interval(count, times: 86_400) }

    /// Compares lengths.
    public static func < (a: Interval, b: Interval) -> Bool { a.seconds < b.seconds }
}

/// The times in a message, and when a receiver accepts them. (`Docs/Format.md`, Opening)
package enum Freshness {
    /// The longest time to live, and the default: 30 days, the time for which Apple keeps a push.
    package static let maximumTimeToLive = Interval.days(30)

    /// How far ahead of the receiver's clock a message may be: 24 hours, because the clocks of phones may be wrong.
    package static let clockTolerance = Interval.hours(24)
}

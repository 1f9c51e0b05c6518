/// A point in time, in milliseconds since 1970-01-01 UTC.
///
/// The library has no clock: the caller passes the present time to every call that needs it. (`Docs/Format.md`, Times)
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The latest time that a message may have: 2^53 - 1, the largest integer that every JSON parser keeps exactly.
    package static let maximum = Timestamp(milliseconds: 1 << 53 - 1)

    /// The number of milliseconds since 1970-01-01 UTC.
    public let milliseconds: UInt64

    /// Creates a timestamp from milliseconds since 1970-01-01 UTC.
    public init(milliseconds: UInt64) {
        self.milliseconds = milliseconds
    }

    /// Creates a timestamp from seconds since 1970-01-01 UTC, such as `Date().timeIntervalSince1970`.
    ///
    /// The value is rounded to milliseconds. One before 1970 or NaN becomes 1970, one after `maximum` becomes
    /// `maximum`.
    public init(secondsSince1970 seconds: Double) {
        let milliseconds = seconds * 1000
        if milliseconds >= Double(Self.maximum.milliseconds) {
            self = .maximum
        } else {
            // Rounded, because 1.001 * 1000 is a little less than 1001. A value that is not above 0 is NaN or before
            // 1970.
            self.init(milliseconds: milliseconds > 0 ? UInt64(milliseconds + 0.5) : 0)
        }
    }

    /// Returns this time plus a number of milliseconds; stops at the largest value instead of overflowing.
    public func adding(milliseconds more: UInt64) -> Timestamp {
        let (sum, overflow) = milliseconds.addingReportingOverflow(more)
        return Timestamp(milliseconds: overflow ? .max : sum)
    }

    /// Returns this time plus `interval`; stops at the largest value instead of overflowing.
    public func adding(_ interval: Interval) -> Timestamp {
        let (product, overflow) = interval.seconds.multipliedReportingOverflow(by: 1000)
        return adding(milliseconds: overflow ? .max : product)
    }

    /// Returns this time minus `interval`; stops at 1970-01-01.
    package func subtracting(_ interval: Interval) -> Timestamp {
        let (product, overflow) = interval.seconds.multipliedReportingOverflow(by: 1000)
        return subtracting(milliseconds: overflow ? .max : product)
    }

    /// Returns this time minus a number of milliseconds; stops at 1970-01-01.
    package func subtracting(milliseconds less: UInt64) -> Timestamp {
        Timestamp(milliseconds: milliseconds > less ? milliseconds - less : 0)
    }

    /// Returns the number of milliseconds from `earlier` to this time; 0 if `earlier` is later.
    public func milliseconds(since earlier: Timestamp) -> UInt64 {
        milliseconds > earlier.milliseconds ? milliseconds - earlier.milliseconds : 0
    }

    /// Compares times.
    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// The time as text, to the second: `2026-11-20T13:49:00Z`.
    public var description: String { CivilTime(self).text }
}

/// A date in the Gregorian calendar, UTC; computed here, so that the library links no calendar of the system.
struct CivilTime {
    let year: UInt64
    let month: UInt64
    let day: UInt64
    let second: UInt64

    init(_ time: Timestamp) {
        let seconds = time.milliseconds / 1000
        second = seconds % 86_400
        // Days are counted from 0000-03-01, so that the leap day is the last of its year.
        let days = seconds / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var text: String {
        func two(_ value: UInt64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let padding = String(repeating: "0", count: max(0, 4 - "\(year)".count))
        return
            "\(padding)\(year)-\(two(month))-\(two(day))T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }
}

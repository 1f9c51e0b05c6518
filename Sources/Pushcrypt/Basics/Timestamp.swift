/// A moment, in milliseconds since 1970-01-01 UTC.
///
/// The library has no clock: whoever seals or opens says what time it is. (`Docs/Format.md`, Times)
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The latest moment a message may carry: 2^53 - 1, the last integer that every JSON reader keeps.
    public static let maximum = Timestamp(milliseconds: 1 << 53 - 1)

    /// Milliseconds since 1970-01-01 UTC.
    public let milliseconds: UInt64

    /// Takes milliseconds since 1970-01-01 UTC.
    public init(milliseconds: UInt64) {
        self.milliseconds = milliseconds
    }

    /// Takes seconds since 1970-01-01 UTC, such as `Date().timeIntervalSince1970`; a value before 1970, beyond
    /// `maximum` or not a number becomes the nearest moment that exists.
    public init(secondsSince1970 seconds: Double) {
        let milliseconds = seconds * 1000
        if milliseconds >= Double(Self.maximum.milliseconds) {
            self = .maximum
        } else {
            // Rounded, because 1.001 * 1000 is a little less than 1001. What is not above 0 is NaN or lies before 1970.
            self.init(milliseconds: milliseconds > 0 ? UInt64(milliseconds + 0.5) : 0)
        }
    }

    /// This moment and so many milliseconds more; stays at the largest value instead of overflowing.
    public func adding(milliseconds more: UInt64) -> Timestamp {
        let (sum, overflow) = milliseconds.addingReportingOverflow(more)
        return Timestamp(milliseconds: overflow ? .max : sum)
    }

    /// Returns this moment plus `interval`; stops at the largest value instead of overflowing.
    public func adding(_ interval: Interval) -> Timestamp { adding(seconds: interval.seconds) }

    /// Returns this moment minus `interval`; stops at 1970-01-01.
    public func subtracting(_ interval: Interval) -> Timestamp {
        let (product, overflow) = interval.seconds.multipliedReportingOverflow(by: 1000)
        return subtracting(milliseconds: overflow ? .max : product)
    }

    /// This moment and so many seconds more; stays at the largest value instead of overflowing.
    public func adding(seconds more: UInt64) -> Timestamp {
        let (product, overflow) = more.multipliedReportingOverflow(by: 1000)
        return adding(milliseconds: overflow ? .max : product)
    }

    /// This moment without so many milliseconds, or 1970 when there are not so many.
    public func subtracting(milliseconds less: UInt64) -> Timestamp {
        Timestamp(milliseconds: milliseconds > less ? milliseconds - less : 0)
    }

    /// The milliseconds from `earlier` to this moment, or 0.
    public func milliseconds(since earlier: Timestamp) -> UInt64 {
        milliseconds > earlier.milliseconds ? milliseconds - earlier.milliseconds : 0
    }

    /// Compares moments.
    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// The moment as text: `2026-11-20T13:49:00Z`.
    public var description: String { CivilTime(self).text }
}

/// A date in the Gregorian calendar, UTC; the library links no calendar of the system's.
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

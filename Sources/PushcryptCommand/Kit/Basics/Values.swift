/// Parses a decimal integer: only digits, and within the range.
package func parseInteger(_ text: some StringProtocol, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let value = Int(text) else {
        return nil
    }
    return range.contains(value) ? value : nil
}

/// A unit of time, and its size in the smallest unit.
package typealias TimeUnit = (name: String, size: Int)

/// The units of durations, in seconds.
package let durationUnits: [TimeUnit] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

/// The units of short times, in milliseconds.
package let millisecondUnits: [TimeUnit] = [("m", 60_000), ("s", 1000), ("ms", 1)]

/// Parses a duration, a whole number with a unit (`30d`, `12h`, `45m`, `20s`), within the range.
///
/// The unit is required, because a number alone could be seconds or days.
///
/// - Returns: The duration in the smallest unit.
package func parseDuration(_ text: String, in range: ClosedRange<Int>, units: [TimeUnit] = durationUnits) -> Int? {
    // Nothing is nothing in any unit.
    if text == "0", range.contains(0) { return 0 }
    let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
    guard let unit = units.first(where: { $0.name == text[digits.endIndex...] }),
        let count = parseInteger(digits, in: 0...Int.max)
    else { return nil }
    let (value, overflow) = count.multipliedReportingOverflow(by: unit.size)
    return !overflow && range.contains(value) ? value : nil
}

/// Formats a time as briefly as possible: 86,400 seconds are `1d`.
package func durationText(_ time: Int, units: [TimeUnit] = durationUnits) -> String {
    let fitting = units.first { time >= $0.size && time.isMultiple(of: $0.size) } ?? units[units.count - 1]
    return "\(time / fitting.size)\(fitting.name)"
}

/// Formats nanoseconds as seconds with three decimals.
package func decimalText(nanoseconds: UInt64) -> String {
    let milliseconds = nanoseconds / 1_000_000
    let rest = String(milliseconds % 1000)
    return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
}

/// A histogram of durations, for Prometheus.
package struct DurationHistogram: Equatable, Sendable {
    /// The upper bounds of the buckets in milliseconds: those of Prometheus' own libraries.
    private static let bounds: [UInt64] = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]

    /// A count for each bucket and one above; empty until there is any.
    private var counts: [Int] = []
    private var nanoseconds: UInt64 = 0

    package init() {}

    /// Adds a duration in nanoseconds, `count` times.
    package mutating func add(_ duration: UInt64, times count: Int = 1) {
        guard count > 0 else { return }
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.bounds.count + 1) }
        let bucket = Self.bounds.firstIndex { duration <= $0 * 1_000_000 } ?? Self.bounds.count
        counts[bucket] += count
        nanoseconds &+= duration &* UInt64(count)
    }

    /// The family of samples.
    package func text(_ name: String, _ help: String) -> String {
        var total = 0
        var samples: [(String, String)] = []
        for (place, bound) in Self.bounds.enumerated() {
            total += counts.isEmpty ? 0 : counts[place]
            samples.append(("_bucket{le=\"\(decimalText(nanoseconds: bound * 1_000_000))\"}", "\(total)"))
        }
        total += counts.last ?? 0
        samples += [
            ("_bucket{le=\"+Inf\"}", "\(total)"), ("_sum", decimalText(nanoseconds: nanoseconds)),
            ("_count", "\(total)"),
        ]
        return metrics(name, help, samples, type: "histogram")
    }
}

/// A family of samples, by their labels, for the textfile collector of Prometheus: the text exposition format, version 0.0.4.
package func metrics<Value: CustomStringConvertible>(
    _ name: String, _ help: String, _ samples: [(String, Value)], type: String = "counter"
) -> String {
    samples.reduce("# HELP pushcrypt_\(name) \(help)\n# TYPE pushcrypt_\(name) \(type)\n") {
        "\($0)pushcrypt_\(name)\($1.0) \($1.1)\n"
    }
}

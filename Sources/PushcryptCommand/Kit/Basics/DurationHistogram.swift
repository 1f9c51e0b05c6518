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

    /// The family of samples, in the text exposition format.
    package func text(_ name: String, _ help: String) -> String {
        var text = "# HELP pushcrypt_\(name) \(help)\n# TYPE pushcrypt_\(name) histogram\n"
        var total = 0
        for (place, bound) in Self.bounds.enumerated() {
            total += counts.isEmpty ? 0 : counts[place]
            text += "pushcrypt_\(name)_bucket{le=\"\(decimalText(nanoseconds: bound * 1_000_000))\"} \(total)\n"
        }
        total += counts.last ?? 0
        text += "pushcrypt_\(name)_bucket{le=\"+Inf\"} \(total)\n"
        text += "pushcrypt_\(name)_sum \(decimalText(nanoseconds: nanoseconds))\npushcrypt_\(name)_count \(total)\n"
        return text
    }
}

/// The table that the bench prints: what was measured, against what, the limit, and whether it is met.
enum Table {
    private static let firstWidth = 34
    private static let width = 20

    static func printHeader() {
        printRow("", "measured", "against", "ratio", "limit", "")
    }

    /// Prints a time that is held against another one.
    static func printRatio(
        _ what: String, _ measured: Double, against yardstick: Double, _ name: String, ratio: Double, limit: Double,
        unit: String
    ) {
        printRow(
            what, "\(decimal(measured, 1)) \(unit)", "\(name) \(decimal(yardstick, 1))", "\(decimal(ratio, 3)) ×",
            "≤ \(decimal(limit, 2)) ×", verdict(ratio <= limit))
    }

    /// Prints a gain of two at once over one, which must be at least so many times another gain.
    static func printRatio(
        _ what: String, _ gain: Double, against yardstick: Double, _ name: String, ratio: Double, atLeast limit: Double
    ) {
        printRow(
            what, "\(decimal(gain, 3)) ×", "\(name) \(decimal(yardstick, 3)) ×", "\(decimal(ratio, 3)) ×",
            "≥ \(decimal(limit, 3)) ×", verdict(ratio >= limit))
    }

    /// Prints an amount that must not be above its limit.
    static func printAmount(_ what: String, _ measured: Double, atMost limit: Double, unit: String) {
        let measuredText = "\(decimal(measured, 1)) \(unit)"
        printRow(what, measuredText, "", "", "≤ \(decimal(limit, 0)) \(unit)", verdict(measured <= limit))
    }

    private static func verdict(_ isMet: Bool) -> String { isMet ? "met" : "NOT MET" }

    private static func printRow(
        _ what: String, _ measured: String, _ yardstick: String, _ ratio: String, _ limit: String, _ verdict: String
    ) {
        let values = [measured, yardstick, ratio, limit].map { padding(width, $0) + $0 }.joined()
        let row = what + padding(firstWidth, what) + values + (verdict.isEmpty ? "" : "  \(verdict)")
        print(row)
    }

    private static func padding(_ width: Int, _ text: String) -> String {
        String(repeating: " ", count: max(0, width - text.count))
    }

    /// Writes a number that is not negative with so many digits after the point.
    private static func decimal(_ value: Double, _ places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let digits = String(Int((value * scale).rounded()))
        guard places > 0 else { return digits }
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return "\(padded.dropLast(places)).\(padded.suffix(places))"
    }
}

/// The table that the bench prints: what was measured, against what, and the limit.
enum Table {
    private static let widths = (what: 38, value: 14)

    static func printHeader() {
        printRow("", "measured", "against", "ratio", "limit", "")
    }

    /// A time that is held against another one.
    static func printRatio(
        _ what: String, _ measured: Double, against yardstick: Double, _ name: String, ratio: Double, limit: Double,
        unit: String
    ) {
        printRow(
            what, "\(decimal(measured, 1)) \(unit)", "\(name) \(decimal(yardstick, 1))", "\(decimal(ratio, 3)) ×",
            "≤ \(decimal(limit, 2)) ×", verdict(ratio <= limit))
    }

    /// An amount that must not be above its limit.
    static func printAmount(_ what: String, _ measured: Double, atMost limit: Double, unit: String) {
        printRow(
            what, "\(decimal(measured, 1)) \(unit)", "", "", "≤ \(decimal(limit, 0)) \(unit)", verdict(measured <= limit))
    }

    /// An amount that must not be below its limit.
    static func printAmount(_ what: String, _ measured: Double, atLeast limit: Double, unit: String) {
        printRow(
            what, "\(decimal(measured, 0)) \(unit)", "", "", "≥ \(decimal(limit, 0)) \(unit)", verdict(measured >= limit))
    }

    private static func verdict(_ isMet: Bool) -> String { isMet ? "met" : "NOT MET" }

    private static func printRow(
        _ what: String, _ measured: String, _ yardstick: String, _ ratio: String, _ limit: String, _ verdict: String
    ) {
        let values = [measured, yardstick, ratio, limit].map { padding(widths.value, $0) + $0 }.joined()
        print("\(what)\(padding(widths.what, what))\(values)  \(verdict)")
    }

    private static func padding(_ width: Int, _ text: String) -> String {
        String(repeating: " ", count: max(0, width - text.count))
    }

    /// A number with so many digits after the point.
    private static func decimal(_ value: Double, _ places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let digits = String(Int((value * scale).rounded()))
        guard places > 0 else { return digits }
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return "\(padded.dropLast(places)).\(padded.suffix(places))"
    }
}

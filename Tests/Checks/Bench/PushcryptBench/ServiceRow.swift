/// One delivery of an extension against the libsodium calls in it.
enum ServiceRow {
    private static let ratio = 1.15
    private static let microseconds = 1000.0

    /// Creates a row from the microseconds of a delivery and of the bare calls.
    static func print(_ delivery: Double, _ bare: Double) {
        Table.printAmount(
            "received to delivered, above 1.15 ×", max(0, delivery - ratio * bare), atMost: microseconds, unit: "µs")
    }
}

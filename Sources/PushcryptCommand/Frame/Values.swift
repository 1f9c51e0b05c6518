/// Reads a decimal integer: digits only, inside the range.
func parseInteger(_ text: some StringProtocol, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let value = Int(text) else {
        return nil
    }
    return range.contains(value) ? value : nil
}

/// Reads a duration, a whole number and a unit (`30d`, `12h`, `45m`, `20s`), as seconds inside the range.
///
/// The unit is required: a bare number is seconds to one reader and days to another.
func parseDuration(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard let unit = text.last, let seconds = durationUnits.first(where: { $0.unit == unit })?.seconds,
        let count = parseInteger(text.dropLast(), in: 0...Int.max)
    else { return nil }
    let (value, overflow) = count.multipliedReportingOverflow(by: seconds)
    return !overflow && range.contains(value) ? value : nil
}

/// The shortest way to write a number of seconds: `86400` is `1d`.
func durationText(_ seconds: Int) -> String {
    let fitting = durationUnits.first { seconds >= $0.seconds && seconds.isMultiple(of: $0.seconds) }
    guard let fitting else { return "\(seconds)s" }
    return "\(seconds / fitting.seconds)\(fitting.unit)"
}

private let durationUnits: [(unit: Character, seconds: Int)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

extension ValueKind {
    /// Refuses a value that is not of this kind; `name` is the option or operand it was given for.
    func check(_ text: String, for name: String) throws(CommandFailure) {
        switch self {
        case .text, .input, .secret: return
        case .choice(let words):
            if words.contains(text) { return }
            let near = nearestName(to: text, among: words)
            throw .usage(
                "\(name) cannot be \(quoted(text))",
                hint: near.map { "did you mean \($0)?" } ?? "write one of: " + words.joined(separator: ", "))
        case .duration(let range):
            if parseDuration(text, in: range) != nil { return }
            throw .usage(
                "\(name) cannot be \(quoted(text))",
                hint: "write a whole number with a unit (d, h, m or s), "
                    + "from \(durationText(range.lowerBound)) to \(durationText(range.upperBound)), "
                    + "for example \(name) \(durationText(range.upperBound))")
        }
    }
}

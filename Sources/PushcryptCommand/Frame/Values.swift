/// Reads a decimal integer: digits only, inside the range.
func parseInteger(_ text: some StringProtocol, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let value = Int(text) else {
        return nil
    }
    return range.contains(value) ? value : nil
}

/// A unit of time, and how many of the smallest one it has.
typealias TimeUnit = (name: String, size: Int)

/// The units of durations, which are counted in seconds.
let durationUnits: [TimeUnit] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

/// The units of short times, which are counted in milliseconds.
let millisecondUnits: [TimeUnit] = [("m", 60_000), ("s", 1000), ("ms", 1)]

/// Reads a duration, a whole number and a unit (`30d`, `12h`, `45m`, `20s`), in the smallest unit and inside the range.
///
/// The unit is required: a bare number is seconds to one reader and days to another.
func parseDuration(_ text: String, in range: ClosedRange<Int>, units: [TimeUnit] = durationUnits) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
    guard let unit = units.first(where: { $0.name == text[digits.endIndex...] }),
        let count = parseInteger(digits, in: 0...Int.max)
    else { return nil }
    let (value, overflow) = count.multipliedReportingOverflow(by: unit.size)
    return !overflow && range.contains(value) ? value : nil
}

/// The shortest way to write a time: 86,400 seconds are `1d`.
func durationText(_ time: Int, units: [TimeUnit] = durationUnits) -> String {
    let fitting = units.first { time >= $0.size && time.isMultiple(of: $0.size) } ?? units[units.count - 1]
    return "\(time / fitting.size)\(fitting.name)"
}

extension ValueKind {
    /// Refuses a value that is not of this kind; `name` is the option or operand it was given for.
    func check(_ text: String, for name: String) throws(CommandFailure) {
        switch self {
        case .text, .input, .secret, .file, .folder, .name, .known, .command: return
        case .choice(let words):
            if words.contains(text) { return }
            let near = nearestName(to: text, among: words)
            throw .usage(
                "\(name) cannot be \(quoted(text))",
                hint: near.map { "did you mean \($0)?" } ?? "write one of: " + words.joined(separator: ", "))
        case .count(let range):
            if parseInteger(text, in: range) != nil { return }
            throw .usage(
                "\(name) cannot be \(quoted(text))",
                hint: "write a whole number from \(range.lowerBound) to \(range.upperBound)")
        case .duration(let range): try check(text, for: name, in: range, units: durationUnits)
        case .milliseconds(let range): try check(text, for: name, in: range, units: millisecondUnits)
        }
    }

    private func check(
        _ text: String, for name: String, in range: ClosedRange<Int>, units: [TimeUnit]
    ) throws(CommandFailure) {
        if parseDuration(text, in: range, units: units) != nil { return }
        let names = units.dropLast().map(\.name).joined(separator: ", ") + " or " + units[units.count - 1].name
        let (first, last) = (
            durationText(range.lowerBound, units: units), durationText(range.upperBound, units: units)
        )
        throw .usage(
            "\(name) cannot be \(quoted(text))",
            hint: "write a whole number with a unit (\(names)), from \(first) to \(last), for example \(name) \(last)")
    }
}

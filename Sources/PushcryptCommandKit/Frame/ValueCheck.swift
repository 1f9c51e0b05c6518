extension ValueKind {
    /// Refuses a value that is not of this kind; `name` is the option or operand it was given for.
    package func check(_ text: String, for name: String) throws(CommandFailure) {
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

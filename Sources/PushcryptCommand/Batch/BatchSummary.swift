internal import PushcryptCommandKit

/// What a batch has done, as its last line says it.
struct BatchSummary {
    /// What became of a message that was not refused: `sealed` or `opened`.
    let verb: String
    let tally: BatchTally
    /// How long it took, in nanoseconds.
    let nanoseconds: UInt64

    var fields: [MessageFormat.Field] {
        [
            ("lines", .number(tally.lines)), (verb, .number(tally.done)), ("refused", .number(tally.refusals)),
            ("refused_by", .counts(tally.refused)), ("unencrypted", .number(tally.unencrypted)),
            ("bytes", .number(tally.bytes.values.reduce(0, +))), ("seconds", .seconds(nanoseconds)),
            ("rate", .number(rate)),
        ]
    }

    /// Lines in a second.
    private var rate: Int { Int(clamping: Double(tally.lines) * 1e9 / Double(max(1, nanoseconds))) }
}

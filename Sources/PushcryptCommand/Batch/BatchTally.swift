/// What has become of the lines of a batch.
struct BatchTally: Sendable, Equatable {
    /// The lines that were read and answered; empty ones do not count.
    var lines = 0
    /// The bytes of these lines.
    var input = 0
    /// The messages that were sealed, or opened.
    var done = 0
    /// The messages that went out as they were, because their device has no key.
    var unencrypted = 0
    /// What was refused, by its code.
    var refused: [String: Int] = [:]
    /// The bytes of the payloads, by the bucket of their content.
    var bytes: [Int: Int] = [:]
    /// How long threads have worked, in nanoseconds.
    var nanoseconds: UInt64 = 0

    /// Everything that was refused.
    var refusals: Int { refused.values.reduce(0, +) }

    mutating func add(_ other: BatchTally) {
        lines += other.lines
        input += other.input
        done += other.done
        unencrypted += other.unencrypted
        refused.merge(other.refused, uniquingKeysWith: +)
        bytes.merge(other.bytes, uniquingKeysWith: +)
        nanoseconds += other.nanoseconds
    }
}

internal import PushcryptCommandKit

/// What a batch has done, for a collector of Prometheus that reads text files.
///
/// The file is replaced as a whole, so that nobody reads half of it.
struct BatchMetrics {
    /// How often it is written while the batch runs, in milliseconds.
    static let interval: UInt64 = 5000

    /// What became of a message that was not refused: `sealed` or `opened`.
    let verb: String
    let tally: BatchTally
    /// How long the batch has run, in nanoseconds.
    let nanoseconds: UInt64

    /// The text exposition format, version 0.0.4.
    var text: String {
        family("lines_total", "Lines that were answered.", [("", "\(tally.lines)")])
            + family("\(verb)_total", "Messages that were \(verb).", [("", "\(tally.done)")])
            + family(
                "refused_total", "Messages that were refused, by the code of the error.",
                tally.refused.sorted { $0.key < $1.key }.map { ("{code=\"\($0.key)\"}", "\($0.value)") })
            + family(
                "unencrypted_total", "Messages that went out as they were, because their device has no key.",
                [("", "\(tally.unencrypted)")])
            + family(
                "\(verb)_bytes_total", "Bytes of the payloads that were \(verb), by the size of their sealed content.",
                tally.bytes.sorted { $0.key < $1.key }.map { ("{bucket=\"\($0.key)\"}", "\($0.value)") })
            + family(
                "work_seconds_total", "Seconds that all threads together have worked on messages.",
                [("", decimalText(nanoseconds: tally.nanoseconds))])
            + family(
                "run_seconds_total", "Seconds since the batch began.", [("", decimalText(nanoseconds: nanoseconds))])
    }

    private func family(_ name: String, _ help: String, _ samples: [(labels: String, value: String)]) -> String {
        let name = "pushcrypt_\(name)"
        return samples.reduce("# HELP \(name) \(help)\n# TYPE \(name) counter\n") {
            "\($0)\(name)\($1.labels) \($1.value)\n"
        }
    }

    /// Replaces the file.
    func write(to path: String) throws(CommandFailure) {
        try OutputFile.write(ContiguousArray(text.utf8).span, to: path, mode: 0o666, force: true)
    }
}

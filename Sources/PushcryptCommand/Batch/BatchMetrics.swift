internal import PushcryptCommandKit

/// The counts of a batch for the textfile collector of Prometheus.
///
/// The file is replaced as a whole, so that it is never read half written.
struct BatchMetrics {
    /// The time between writes while the batch runs, in milliseconds.
    static let interval: UInt64 = 5000

    let verb: BatchVerb
    let tally: BatchTally
    /// The time since the batch began, in nanoseconds.
    let nanoseconds: UInt64

    /// The text exposition format, version 0.0.4.
    var text: String {
        let things = verb == .registered ? "Devices" : verb == .answered ? "Answers" : "Messages"
        return family("lines_total", "Lines answered.", [("", "\(tally.lines)")])
            + family("\(verb)_total", "\(things) that were \(verb).", [("", "\(tally.done)")])
            + family(
                "refused_total", "\(things) refused, by error code.",
                tally.refused.sorted { $0.key < $1.key }.map { ("{code=\"\($0.key)\"}", "\($0.value)") })
            + (verb.hasPayloads ? payloads : "")
            + family(
                "work_seconds_total", "Working seconds of all threads.",
                [("", decimalText(nanoseconds: tally.nanoseconds))])
            + family(
                "run_seconds_total", "Seconds since the batch began.", [("", decimalText(nanoseconds: nanoseconds))])
            + tally.latency.text("line_seconds", "Seconds from the reading of a line to its answer.")
    }

    private var payloads: String {
        family(
            "unencrypted_total", "Messages sent unsealed because their device has no key.",
            [("", "\(tally.unencrypted)")])
            + family(
                "\(verb)_bytes_total", "Bytes of the payloads that were \(verb), by the size of their sealed content.",
                tally.bytes.sorted { $0.key < $1.key }.map { ("{bucket=\"\($0.key)\"}", "\($0.value)") })
    }

    private func family(_ name: String, _ help: String, _ samples: [(labels: String, value: String)]) -> String {
        let name = "pushcrypt_\(name)"
        return samples.reduce("# HELP \(name) \(help)\n# TYPE \(name) counter\n") {
            "\($0)\(name)\($1.labels) \($1.value)\n"
        }
    }

    /// Replaces the file.
    func write(to path: String) throws {
        try OutputFile.write(ContiguousArray(text.utf8).span, to: path, mode: 0o666, force: true)
    }
}

import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The reports of a batch, for people and for programs.
@Suite struct BatchReportTests {
    private let tally = BatchTally(
        lines: 12, input: 5000, done: 7, unencrypted: 1, refused: ["unknown-device": 3, "no-key": 1],
        bytes: [512: 1000, 256: 2500], nanoseconds: 1_234_567_890)

    // MARK: Metrics

    /// One sample of a text in Prometheus' exposition format, version 0.0.4, read as its grammar has it.
    private struct Sample: Equatable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    private struct Malformed: Error {
        let line: Substring
    }

    /// Reads a text strictly: each family has HELP, then TYPE, then its samples, all under one name; the text ends with a
    /// newline; no sample stands twice.
    private func samples(_ text: String) throws -> [Sample] {
        guard text.hasSuffix("\n") else { throw Malformed(line: "") }
        var samples: [Sample] = []
        var families: Set<Substring> = []
        var described: Substring?
        var current: Substring?
        var isHistogram = false
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\\\n]+)/) {
                guard families.insert(match.1).inserted else { throw Malformed(line: line) }
                (described, current) = (match.1, nil)
            } else if let match = line.wholeMatch(of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)/) {
                guard match.1 == described, match.2 != "counter" || match.1.hasSuffix("_total") else {
                    throw Malformed(line: line)
                }
                current = match.1
                isHistogram = match.2 == "histogram"
            } else if let match = line.wholeMatch(
                of: /([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([a-zA-Z_][a-zA-Z0-9_]*)="([^"\\\n]*)"\})? ([0-9]+(?:\.[0-9]+)?)/)
            {
                let family = isHistogram ? match.1.replacing(/_(bucket|sum|count)$/, with: "") : match.1
                guard family == current, let value = Double(match.4) else { throw Malformed(line: line) }
                var labels: [String: String] = [:]
                if let label = match.2, let text = match.3 { labels[String(label)] = String(text) }
                let sample = Sample(name: String(match.1), labels: labels, value: value)
                guard !samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
                    throw Malformed(line: line)
                }
                samples.append(sample)
            } else {
                throw Malformed(line: line)
            }
        }
        return samples
    }

    @Test("A collector of Prometheus reads the metrics")
    func metrics() throws {
        var tally = tally
        tally.latency.add(20_000_000, times: 10)
        tally.latency.add(30_000_000_000, times: 2)
        let text = BatchReport(verb: .sealed, tally: tally, nanoseconds: 2_000_000_000).text
        #expect(
            try samples(text) == [
                Sample(name: "pushcrypt_lines_total", labels: [:], value: 12),
                Sample(name: "pushcrypt_sealed_total", labels: [:], value: 7),
                Sample(name: "pushcrypt_refused_total", labels: ["code": "no-key"], value: 1),
                Sample(name: "pushcrypt_refused_total", labels: ["code": "unknown-device"], value: 3),
                Sample(name: "pushcrypt_unencrypted_total", labels: [:], value: 1),
                Sample(name: "pushcrypt_sealed_bytes_total", labels: ["bucket": "256"], value: 2500),
                Sample(name: "pushcrypt_sealed_bytes_total", labels: ["bucket": "512"], value: 1000),
                Sample(name: "pushcrypt_work_seconds_total", labels: [:], value: 1.234),
                Sample(name: "pushcrypt_run_seconds_total", labels: [:], value: 2),
            ] + histogram(["0.005": 0, "0.010": 0, "0.025": 10, "+Inf": 12], sum: 60.2, count: 12))
        #expect(try samples(BatchReport(verb: .opened, tally: BatchTally(), nanoseconds: 0).text).count == 19)
    }

    /// The samples of the latency; buckets that are not named have the count of the one before.
    private func histogram(_ counts: [String: Double], sum: Double, count: Double) -> [Sample] {
        let bounds = [
            "0.005", "0.010", "0.025", "0.050", "0.100", "0.250", "0.500", "1.000", "2.500", "5.000", "10.000", "+Inf",
        ]
        var last = 0.0
        return bounds.map { bound in
            last = counts[bound] ?? last
            return Sample(name: "pushcrypt_line_seconds_bucket", labels: ["le": bound], value: last)
        } + [
            Sample(name: "pushcrypt_line_seconds_sum", labels: [:], value: sum),
            Sample(name: "pushcrypt_line_seconds_count", labels: [:], value: count),
        ]
    }

    @Test("A duration counts in the first bucket that holds it, and in those after it")
    func buckets() {
        var histogram = DurationHistogram()
        for milliseconds in [5, 6, 10_000, 10_001] as [UInt64] { histogram.add(milliseconds * 1_000_000) }
        histogram.add(5_000_001, times: 0)
        let counts = histogram.text("x", "X.").matches(of: #/x_bucket\{le="([^"]*)"\} ([0-9]+)/#).map {
            "\($0.1):\($0.2)"
        }
        #expect(
            counts.first == "0.005:1" && counts[1] == "0.010:2"
                && counts.suffix(3) == ["5.000:2", "10.000:3", "+Inf:4"])
    }

    @Test("The file is replaced as a whole")
    func replaced() throws {
        let directory = try TemporaryDirectory()
        try directory.write("something longer than the metrics will ever be".padded(to: 10_000), to: "metrics")
        let report = BatchReport(verb: .sealed, tally: tally, nanoseconds: 0)
        try report.writeMetrics(to: directory.file("metrics"))
        #expect(try directory.read("metrics") == report.text)
        #expect(try directory.names == ["metrics"])
    }

    // MARK: The last line, and the log

    @Test("The last line has the counts, as text and as JSON")
    func summary() {
        let fields = BatchReport(verb: .sealed, tally: tally, nanoseconds: 1_500_000_000).summary
        #expect(
            text(.text, fields)
                == "pushcrypt: summary lines=12 sealed=7 refused=4 refused_by=no-key:1,unknown-device:3 unencrypted=1 bytes=3500 seconds=1.500 rate=8\n"
        )
        #expect(
            text(.json, fields)
                == #"{"event":"summary","lines":12,"sealed":7,"refused":4,"refused_by":{"no-key":1,"unknown-device":3},"unencrypted":1,"bytes":3500,"seconds":1.500,"rate":8}"#
                + "\n")
    }

    @Test("What was done before the clock has moved is no division by zero")
    func noTime() {
        let fields = BatchReport(verb: .sealed, tally: tally, nanoseconds: 0).summary
        #expect(text(.text, fields).contains("seconds=0.000 rate=12000000000"))
    }

    private func text(_ format: LogFormat, _ fields: [MessageFormat.Field]) -> String {
        String(decoding: format.messages.line("summary", fields), as: UTF8.self)
    }

    @Test(
        "Times are cut to milliseconds",
        arguments: [
            (0, "0.000"), (999_999, "0.000"), (1_000_000, "0.001"), (61_040_000_000, "61.040"),
        ] as [(UInt64, String)])
    func seconds(nanoseconds: UInt64, expected: String) {
        #expect(decimalText(nanoseconds: nanoseconds) == expected)
    }

    // MARK: Progress

    @Test(
        "Progress has the rate, and of a file the part that is done and the time that is left",
        arguments: [
            (nil, 2000, "12 lines, 4 refused, 6 a second"),
            (20_000, 2000, "25 %, 12 lines, 4 refused, 6 a second, 00:06 left"),
            (5000, 2000, "100 %, 12 lines, 4 refused, 6 a second, 00:00 left"),
            (1, 2000, "100 %, 12 lines, 4 refused, 6 a second, 00:00 left"),
            (50_000_000, 1000, "0 %, 12 lines, 4 refused, 12 a second, 2:46:39 left"),
            (nil, 0, "12 lines, 4 refused, 12000 a second"),
        ] as [(Int?, Int, String)])
    func progress(size: Int?, milliseconds: Int, expected: String) {
        #expect(BatchProgress.text(tally, size: size, milliseconds: milliseconds) == expected)
    }

    @Test("Numbers that no batch has are no reason to end one")
    func extremes() {
        var tally = BatchTally()
        (tally.lines, tally.input) = (.max, 1)
        #expect(BatchProgress.text(tally, size: .max, milliseconds: .max).hasPrefix("0 %, 9223372036854775807 lines, "))
        #expect(BatchProgress.text(tally, size: nil, milliseconds: 0).contains("9223372036854775807 a second"))
    }

    @Test("A file of which nothing is done yet has no time that is left")
    func noProgress() {
        #expect(BatchProgress.text(BatchTally(), size: 100, milliseconds: 1000) == "0 lines, 0 a second")
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String { self + String(repeating: " ", count: count - self.count) }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// A phone's journal, code by code, the most frequent first.
struct Journal {
    /// Enough to go and look in the provider's log; programs get all.
    private static let shownFingerprints = 8

    private let entries: [JournalEntry]
    private let codes: [Code]

    /// The deliveries that ended in one code.
    private struct Code {
        let name: String
        /// Newest first; at least one.
        let entries: [JournalEntry]

        var keyStates: [String] { Set(entries.map(\.keyState.description)).sorted() }

        /// Newest first, each once.
        var fingerprints: [String] {
            var seen: Set<EnvelopeFingerprint> = []
            return entries.compactMap(\.fingerprint).filter { seen.insert($0).inserted }.map(\.description)
        }

        /// The meanings in a journal: a delivery never ends in a code of sealing, for instance.
        var explanations: [Explanation] {
            Explanation.of(name).filter { meaning in
                meaning.areas.contains { ["delivery", "opening", "store"].contains($0.name) }
            }
        }
    }

    init(_ journal: JournalExport) {
        // By time, not by place: a phone's clock may have been set back.
        entries = journal.entries.sorted { $0.time < $1.time }
        codes = Dictionary(grouping: entries.reversed(), by: \.code).map(Code.init)
            .sorted { ($1.entries.count, $0.name) < ($0.entries.count, $1.name) }
    }

    // MARK: Text forms

    /// The counts, then the explanation of every code that occurs.
    func text(_ console: Console) -> String {
        guard let first = entries.first, let last = entries.last else { return "no deliveries\n" }
        let slowest = entries.map(\.milliseconds).max() ?? 0
        let head =
            "deliveries: \(entries.count), from \(first.time) to \(last.time); the slowest took \(slowest) ms\n\n"
        let explained = codes.flatMap { code in
            code.explanations.isEmpty
                ? ["\(code.name): this version has no explanation of it\n"]
                : code.explanations.map { $0.text(console) }
        }
        return ([head + listed(codes.map { ($0.name, line($0)) })] + explained).joined(separator: "\n")
    }

    private func line(_ code: Code) -> String {
        let (count, fingerprints) = (code.entries.count, code.fingerprints)
        var line = (count == 1 ? "once" : "\(count) times") + "; last at \(code.entries[0].time)"
        line += "; key \(code.keyStates.joined(separator: " or "))"
        if fingerprints.isEmpty { return line }
        let rest = fingerprints.count - Self.shownFingerprints
        line += "; envelopes \(fingerprints.prefix(Self.shownFingerprints).joined(separator: " "))"
        return rest > 0 ? line + " and \(rest) more" : line
    }

    /// One object.
    var json: String {
        var json = JSONWriter()
        json.object { json in
            json.integer(entries.count, for: "deliveries")
            if let first = entries.first { json.integer(first.time.milliseconds, for: "first") }
            if let last = entries.last { json.integer(last.time.milliseconds, for: "last") }
            json.array(for: "codes") { json in
                for code in codes { json.object { write(code, to: &$0) } }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }

    private func write(_ code: Code, to json: inout JSONWriter) {
        json.string(code.name, for: "code")
        json.integer(code.entries.count, for: "count")
        json.integer(code.entries[0].time.milliseconds, for: "last")
        json.array(for: "keys") { json in for state in code.keyStates { json.string(state) } }
        json.array(for: "fingerprints") { json in for name in code.fingerprints { json.string(name) } }
        json.array(for: "explanations") { json in
            for explanation in code.explanations { json.object { explanation.write(to: &$0) } }
        }
    }
}

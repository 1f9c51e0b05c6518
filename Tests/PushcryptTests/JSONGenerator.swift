import Seed

/// Makes JSON texts at random, the same ones for the same seed, and damages them.
struct JSONGenerator {
    /// A text with white space and escapes, and the same with the fewest bytes.
    struct Sample {
        var spaced = ContiguousArray<UInt8>()
        var compact = ContiguousArray<UInt8>()
    }

    private var random: Seed

    init(seed: UInt64) {
        random = Seed(seed)
    }

    mutating func sample() -> Sample {
        var sample = Sample()
        appendSpace(to: &sample)
        appendValue(to: &sample, depth: 0)
        appendSpace(to: &sample)
        return sample
    }

    /// The text with one to three bytes taken out, put in, changed or moved.
    mutating func damaged(_ text: ContiguousArray<UInt8>) -> ContiguousArray<UInt8> {
        var text = text
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: 0..<text.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where text.count > 1: text.remove(at: index)
            case 1: text.insert(pick(Self.interesting), at: index)
            case 2: text[index] = pick(Self.interesting)
            case 3: text[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default: text.swapAt(index, Int.random(in: 0..<text.count, using: &random))
            }
        }
        return text
    }

    private static let interesting =
        Array("{}[]:,\"\\/ \t\n0159-+.eEutfnabdD\0\u{1F}".utf8) + [0x80, 0xC3, 0xE2, 0xED, 0xF0, 0xFF]

    private static let scalars = [
        "0", "-0", "1", "-7", "10", "2147483648", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "0.0", "-0.5", "1.0", "3.14159", "0.30000000000000004", "1e0", "1E+5", "25e-1", "-1.5E-10", "1e300", "true",
        "false", "null",
    ]

    private static let fragments =
        [
            "a", "aps", "alert", "title", " ", "  ", "x y", "é", "e\u{301}", "한국어", "🚲", "\u{7F}", "\u{2028}",
            "\u{FFFF}", "/", "'", "{", "}", "[1,2]", ":", ",", "true",
            #"\""#, #"\\"#, #"\b"#, #"\n"#, #"\t"#, #"\u0000"#,
        ].map { ($0, $0) } + [
            (#"\/"#, "/"), (#"\u0061"#, "a"), (#"\u00E9"#, "é"), (#"\uFFFF"#, "\u{FFFF}"), (#"\u001F"#, #"\u001f"#),
            (#"\u0022"#, #"\""#), (#"\u000a"#, #"\n"#), (#"\ud83d\udeb2"#, "🚲"), (#"\uDBFF\uDFFF"#, "\u{10FFFF}"),
        ]

    private mutating func appendValue(to sample: inout Sample, depth: Int) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3 where depth < 6: appendList("{", "}", to: &sample, depth: depth + 1)
        case 3..<5 where depth < 6: appendList("[", "]", to: &sample, depth: depth + 1)
        case 5..<8: appendString(to: &sample)
        default: append(pick(Self.scalars), to: &sample)
        }
    }

    private mutating func appendList(_ open: String, _ close: String, to sample: inout Sample, depth: Int) {
        append(open, to: &sample)
        appendSpace(to: &sample)
        for index in 0..<Int.random(in: 0..<6, using: &random) {
            if index > 0 {
                append(",", to: &sample)
                appendSpace(to: &sample)
            }
            if open == "{" {
                // The number keeps names apart, whatever fragments come before it; damage brings some together.
                appendString(ending: "\(index)", to: &sample)
                appendSpace(to: &sample)
                append(":", to: &sample)
                appendSpace(to: &sample)
            }
            appendValue(to: &sample, depth: depth)
            appendSpace(to: &sample)
        }
        append(close, to: &sample)
    }

    private mutating func appendString(ending: String = "", to sample: inout Sample) {
        append("\"", to: &sample)
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
            let (written, short) = pick(Self.fragments)
            sample.spaced.append(contentsOf: written.utf8)
            sample.compact.append(contentsOf: short.utf8)
        }
        append(ending + "\"", to: &sample)
    }

    private mutating func appendSpace(to sample: inout Sample) {
        guard Int.random(in: 0..<4, using: &random) == 0 else { return }
        for _ in 0..<Int.random(in: 1..<4, using: &random) { sample.spaced.append(pick([0x20, 0x09, 0x0A, 0x0D])) }
    }

    private func append(_ token: String, to sample: inout Sample) {
        sample.spaced.append(contentsOf: token.utf8)
        sample.compact.append(contentsOf: token.utf8)
    }

    private mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: 0..<choices.count, using: &random)]
    }
}

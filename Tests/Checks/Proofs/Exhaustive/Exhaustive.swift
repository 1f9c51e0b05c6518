import Pushcrypt
import Synchronization

/// Changes an envelope of each bucket in every small way, and compares what the receiver says with what the document demands.
enum Exhaustive {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)
    private static let buckets = [256, 512, 1024, 1536, 2048, 2560, 2816, 3584]
    /// How many changes a thread takes at once.
    private static let chunk = 2048

    /// One envelope, and the receiver it is for.
    private struct Target: Sendable {
        let bucket: Int
        let genuine: Mutation.Genuine
        let reading: Reading
        let opener: Opener

        init(bucket: Int, seed: UInt64) throws {
            var numbers = Numbers(seed: seed, case: UInt64(bucket))
            let device = ForgedDevice(scalar: numbers.bytes(32))
            let sender = ForgedSender(seed: numbers.bytes(32))
            // The longest body of the bucket but one: one byte of padding is there to be changed too.
            let front = Array(#"{"aps":{"alert":""#.utf8)
            let text = [UInt8](repeating: UInt8(ascii: "x"), count: bucket - 100 - front.count - 3)
            let forgery = Forgery(
                to: device, from: sender, topic: "com.example.app", body: front + text + Array(#""}}"#.utf8),
                bucket: bucket, sentAt: now.milliseconds, ephemeral: numbers.bytes(32))
            self.bucket = bucket
            genuine = Mutation.Genuine(forgery.bytes())
            reading = Reading(genuine: genuine.bytes)
            opener = Opener(
                topic: try Topic("com.example.app"), deviceKeys: [try device.key()],
                trust: SenderTrust(pinned: [try sender.trusted()]))
        }

        /// The code that the receiver gives, or nil where it opens.
        func code(of text: [UInt8]) -> OpenError.Code? {
            do throws(OpenError) {
                let bytes = Bytes(text)
                _ = try opener.open(Envelope(text: bytes.span), at: now)
                return nil
            } catch {
                return error.code
            }
        }
    }

    private struct Chunk: Sendable {
        let target: Int
        let mutation: Mutation
        let numbers: Range<Int>
    }

    /// What came of many changes.
    private struct Tally: Sendable {
        var codes: [OpenError.Code: Int] = [:]
        var opened = 0

        mutating func add(_ other: Tally) {
            codes.merge(other.codes, uniquingKeysWith: +)
            opened += other.opened
        }
    }

    /// Everything, or the one change that the arguments name: bucket, mutation, number.
    static func run(_ arguments: [String], seed: UInt64) throws {
        let watch = Stopwatch()
        let targets = try buckets.map { try Target(bucket: $0, seed: seed) }
        for target in targets {
            guard let code = target.code(of: target.genuine.text) else { continue }
            throw Disproof("the genuine envelope of \(target.bucket) is \(code)", again: "exhaustive", seed: seed)
        }
        if arguments.count == 3 {
            guard let target = targets.first(where: { "\($0.bucket)" == arguments[0] }),
                let mutation = Mutation(rawValue: arguments[1]), let number = Int(arguments[2]),
                (0..<mutation.count(target.genuine)).contains(number)
            else { throw Misuse("exhaustive BUCKET MUTATION NUMBER") }
            var tally = Tally()
            try check(target, mutation, number, seed: seed, &tally)
            return print("as demanded: \(tally.codes.keys.first?.description ?? "opens")")
        }
        let chunks = Self.chunks(of: targets)
        let totals = Mutex<[Mutation: Tally]>([:])
        try onEveryProcessor(count: chunks.count) { index in
            let chunk = chunks[index]
            var tally = Tally()
            for number in chunk.numbers {
                try check(targets[chunk.target], chunk.mutation, number, seed: seed, &tally)
            }
            totals.withLock { $0[chunk.mutation, default: Tally()].add(tally) }
        }
        report(totals.withLock { $0 }, targets, seconds: watch.seconds)
    }

    private static func chunks(of targets: [Target]) -> [Chunk] {
        var chunks: [Chunk] = []
        for (index, target) in targets.enumerated() {
            for mutation in Mutation.allCases {
                let count = mutation.count(target.genuine)
                for start in stride(from: 0, to: count, by: chunk) {
                    let numbers = start..<min(start + chunk, count)
                    chunks.append(Chunk(target: index, mutation: mutation, numbers: numbers))
                }
            }
        }
        return chunks
    }

    private static func check(
        _ target: Target, _ mutation: Mutation, _ number: Int, seed: UInt64, _ tally: inout Tally
    ) throws {
        let text = mutation.text(of: target.genuine, number)
        let demanded = target.reading.code(of: text)
        // Only one change leaves an envelope as it was: a character replaced by the same one.
        guard demanded != nil || text == target.genuine.text else {
            throw Misuse("\(mutation) \(number) leaves the envelope whole")
        }
        let code = target.code(of: text)
        guard code == demanded else {
            throw Disproof(
                "bucket \(target.bucket), \(mutation.rawValue) \(number): \(code?.description ?? "opens"), and the document demands \(demanded?.description ?? "that it opens")",
                again: "exhaustive \(target.bucket) \(mutation.rawValue) \(number)", seed: seed)
        }
        if let code { tally.codes[code, default: 0] += 1 } else { tally.opened += 1 }
    }

    private static func report(_ totals: [Mutation: Tally], _ targets: [Target], seconds: UInt64) {
        var all = Tally()
        for mutation in Mutation.allCases {
            let tally = totals[mutation] ?? Tally()
            all.add(tally)
            let codes = OpenError.Code.allCases.compactMap { code in tally.codes[code].map { "\(code) \($0)" } }
            let changed = tally.codes.values.reduce(0, +)
            print("\(mutation.rawValue): \(changed) refused: \(codes.joined(separator: ", "))")
        }
        printFigure(
            "exhaustive",
            [
                "buckets": targets.count, "refused": all.codes.values.reduce(0, +),
                "malformed-envelope": all.codes[.malformedEnvelope] ?? 0,
                "unsupported-suite": all.codes[.unsupportedSuite] ?? 0,
                "unknown-recipient-key": all.codes[.unknownRecipientKey] ?? 0,
                "authentication-failed": all.codes[.authenticationFailed] ?? 0, "seconds": seconds,
            ])
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit

/// Answers the lines of a batch on one thread.
protocol LineWorker: SendableMetatype {
    /// Answers the lines of a chunk in order.
    func answer(_ chunk: LineChunk, _ answers: inout Answers)
}

/// The answers to the lines of a chunk.
struct Answers {
    /// How many bytes are gathered before they are written: a line for a user is repeated for every device, with all members
    /// that it passes through.
    private static let partLength = 2 << 20

    /// Whole lines of output.
    var output: ContiguousArray<UInt8> = []
    /// Whole lines for standard error, written after the output.
    var log: ContiguousArray<UInt8> = []
    var tally = BatchTally()
    /// Whether answers can still be written.
    private(set) var isWanted = true

    /// Waits for its turn, then writes a part of the answers; returns false if writing has failed.
    private let write: ((Answers) -> Bool)?

    /// - Parameter write: Writes a part of a long answer; nil if there are no parts.
    init(inParts write: ((Answers) -> Bool)? = nil) { self.write = write }

    /// Answers a line with an object, or with the error that is thrown, beside members that the line brought.
    ///
    /// - Parameters:
    ///   - repeated: Writes the part of the line that an error repeats.
    ///   - members: Writes the members of the answer, up to those that are passed through.
    /// - Returns: The error.
    @discardableResult
    mutating func answer(
        _ line: Line, repeating repeated: (inout JSONWriter) -> Void = { _ in },
        _ members: (inout JSONWriter) throws -> Void
    ) -> Failure? {
        if output.count >= Self.partLength { flush() }
        let start = output.count
        var failure: Failure?
        append { json in
            do {
                try members(&json)
                line.writePassed(to: &json)
            } catch {
                failure = Failure(error)
            }
        }
        guard let failure else { return nil }
        output.removeSubrange(start...)
        append { json in
            failure.write(line: line.number, to: &json)
            repeated(&json)
            line.writePassed(to: &json)
        }
        tally.refused[failure.code, default: 0] += 1
        return failure
    }

    /// Appends an object as a line of the output.
    mutating func append(_ members: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        // Written behind the lines before it, and not copied there.
        swap(&json.bytes, &output)
        json.object(members)
        swap(&json.bytes, &output)
        output.append(newline)
    }

    /// Writes the answers so far, as a part.
    mutating func flush() {
        guard let write else { return }
        isWanted = isWanted && write(self)
        (output, log, tally) = ([], [], BatchTally())
    }
}

/// The counts of a batch.
struct BatchTally: Sendable, Equatable {
    /// The lines answered, without empty ones.
    var lines = 0
    /// The bytes of these lines.
    var input = 0
    /// The messages sealed or opened.
    var done = 0
    /// The messages written as they are, for devices without a key.
    var unencrypted = 0
    /// The refused messages, by code.
    var refused: [String: Int] = [:]
    /// The bytes of the payloads, by bucket.
    var bytes: [Int: Int] = [:]
    /// The working time of all threads, in nanoseconds.
    var nanoseconds: UInt64 = 0
    /// The time from reading a line to its answer.
    var latency = DurationHistogram()

    /// The number of refused messages.
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

internal import Pushcrypt
internal import PushcryptCommandKit

/// What answers the lines of a batch; one for each thread.
protocol LineWorker: SendableMetatype {
    /// Writes a part of an answer, and waits for its turn to do so; false when nobody takes it any more.
    typealias Part = (BatchAnswer) -> Bool

    /// Answers every line of a chunk, in its order.
    ///
    /// What would take much memory is handed to `write` before, in parts; the rest is returned.
    func answer(_ chunk: LineChunk, inParts write: @escaping Part) -> BatchAnswer
}

/// What became of a chunk.
struct BatchAnswer: Sendable {
    /// What is written for it: whole lines.
    var output: ContiguousArray<UInt8> = []
    /// What is said about it once that is written: whole lines for standard error.
    var log: ContiguousArray<UInt8> = []
    var tally = BatchTally()

    /// Appends an object as a line of the output.
    mutating func append(_ members: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        json.object(members)
        output.append(contentsOf: json.bytes)
        output.append(newline)
    }
}

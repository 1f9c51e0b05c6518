/// How much of the input is held: neither messages nor answers may fill the memory. One line more may be added.
struct ReadLimits {
    typealias Amount = (count: Int, bytes: Int)

    /// For messages that wait for their turn.
    var windowBytes = 16 << 20
    /// For messages that wait for something else, and answers that wait for them.
    var deferred = 20_000
    var deferredBytes = 128 << 20

    /// Whether another line may be read.
    ///
    /// - Parameters:
    ///   - held: The messages without an answer.
    ///   - waiting: Those of them that wait for something else.
    ///   - answers: The answers that wait for earlier ones.
    ///   - window: The messages that may wait for their turn.
    func allow(held: Amount, deferred waiting: Amount, answers: Amount, window: Int) -> Bool {
        held.count - waiting.count < window && held.bytes - waiting.bytes < windowBytes
            && waiting.count + answers.count < deferred && waiting.bytes + answers.bytes < deferredBytes
    }
}

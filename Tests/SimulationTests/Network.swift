/// Delays, loses, copies, cuts and reorders messages. A reply comes once, or not at all.
final class Network {
    typealias Bytes = ContiguousArray<UInt8>

    private let loop: Loop
    /// How many of a hundred messages meet a mishap.
    var mishaps = 0
    /// The longest delay, in milliseconds.
    var delay: UInt64 = 200

    init(_ loop: Loop) { self.loop = loop }

    /// Asks a server, which may see the request late, twice or never. `done` gets the status and the body of the answer, which may
    /// be cut; nil if none came.
    func ask(
        _ server: @escaping () throws -> (status: Int, body: Bytes)?,
        _ done: @escaping ((status: Int, body: Bytes)?) throws -> Void
    ) {
        let (isLost, losesReply) = (loop.chance(mishaps), loop.chance(mishaps))
        let (cuts, copies) = (loop.chance(mishaps / 4), loop.chance(mishaps))
        if copies { loop.after(loop.below(30 * Time.minute)) { _ = try server() } }
        if isLost || losesReply { loop.after(Time.minute) { try done(nil) } }
        guard !isLost else { return }
        loop.after(loop.below(delay)) { [loop, delay] in
            let answer = try server()
            guard !losesReply else { return }
            loop.after(loop.below(delay)) {
                try done(answer.map { ($0.status, cuts ? Bytes($0.body.dropLast($0.body.count / 2)) : $0.body) })
            }
        }
    }
}

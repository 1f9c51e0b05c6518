internal import Pushcrypt
internal import PushcryptCommandKit

/// One connection to a signer, for one thread at a time. (`Docs/SignerProtocol.md`)
///
/// Cannot be used after an error.
final class SignerConnection {
    /// The error that ended a connection.
    enum Failure: Error, Equatable {
        case ended(SystemError)
        case timedOut
        case malformedReply
    }

    /// The total time for one exchange, in timeouts, so that a signer cannot prolong it forever with single replies.
    static let patience: UInt64 = 3

    private let socket: UnixSocket
    private let timeout: UInt64
    private var input = SignerInput()
    /// Counts over all calls, so that a late reply never matches another request.
    private var nextID: UInt32 = 1

    /// Connects.
    ///
    /// - Parameter timeout: How long the signer may be silent while it is asked, in milliseconds.
    init(to path: String, timeout: UInt64) throws(Failure) {
        self.timeout = timeout
        do throws(SystemError) {
            socket = try UnixSocket(connectingTo: path, deadline: SystemEnvironment.uptime() + timeout)
        } catch {
            throw Failure(error)
        }
    }

    /// Sends every request that has no answer yet, at most `window` ahead of the replies, and stores the replies as they
    /// arrive; those before an error stay in `answers`.
    ///
    /// - Throws: `timedOut` if the signer is silent for the timeout, or has not answered everything in three times that.
    func exchange(
        _ kind: SignerFrames.Kind, _ bodies: [ContiguousArray<UInt8>], window: Int,
        answers: inout [SignerFrames.Reply?]
    ) throws(Failure) {
        let asked = bodies.indices.filter { answers[$0] == nil }
        let firstID = nextID
        nextID &+= UInt32(truncatingIfNeeded: asked.count)
        var (queued, answered) = (0, 0)
        var output = ContiguousArray<UInt8>()
        var sent = 0
        let end = SystemEnvironment.uptime() + Self.patience * timeout
        var deadline = SystemEnvironment.uptime() + timeout
        while answered < asked.count {
            if sent == output.count {
                output.removeAll(keepingCapacity: true)
                sent = 0
                while queued < asked.count, queued - answered < window {
                    let id = firstID &+ UInt32(truncatingIfNeeded: queued)
                    SignerFrames.append(kind, id: id, bodies[asked[queued]], to: &output)
                    queued += 1
                }
            }
            do throws(SystemError) {
                let ready = try socket.wait(toWrite: sent < output.count, deadline: deadline)
                if ready.canWrite, sent < output.count { sent += try socket.write(output, from: sent) }
                guard ready.canRead else { continue }
                _ = try input.fill { (span, start) throws(SystemError) in try socket.read(into: &span, from: start) }
            } catch {
                throw Failure(error)
            }
            for reply in try takeReplies() {
                let place = Int(reply.id &- firstID)
                guard place < queued, answers[asked[place]] == nil else { throw .malformedReply }
                answers[asked[place]] = reply
                answered += 1
                deadline = min(SystemEnvironment.uptime() + timeout, end)
            }
        }
    }

    private func takeReplies() throws(Failure) -> [SignerFrames.Reply] {
        do throws(SignerFrames.Malformed) {
            return try input.takeReplies()
        } catch {
            throw .malformedReply
        }
    }
}

extension SignerConnection.Failure {
    fileprivate init(_ error: SystemError) {
        self = error == .timedOut ? .timedOut : .ended(error)
    }
}

/// Bytes received from a signer.
///
/// One of the signatures is secret, because the hedge key is derived from it: bytes are overwritten once they are taken.
struct SignerInput: ~Copyable {
    /// Far more than the longest reply, so that there is always room for the rest of one.
    private static let capacity = 65_536

    private var buffer = Ephemeral(count: capacity)
    private var count = 0

    /// Lets `read` write into the buffer from an index on, and returns the number of bytes that it returns.
    mutating func fill<E: Error>(_ read: (inout MutableSpan<UInt8>, Int) throws(E) -> Int) throws(E) -> Int {
        let more = try buffer.withMutableSpan { [count] (span) throws(E) in try read(&span, count) }
        count += more
        return more
    }

    /// Removes and returns every complete reply.
    mutating func takeReplies() throws(SignerFrames.Malformed) -> [SignerFrames.Reply] {
        var replies: [SignerFrames.Reply] = []
        let taken = try buffer.withSpan { [count] (span) throws(SignerFrames.Malformed) in
            var start = 0
            while let (reply, end) = try SignerFrames.reply(in: span.extracting(..<count), at: start) {
                replies.append(reply)
                start = end
            }
            return start
        }
        remove(taken)
        return replies
    }

    private mutating func remove(_ taken: Int) {
        guard taken > 0 else { return }
        buffer.withMutableSpan { [count] span in
            for index in 0..<count { span[index] = taken + index < count ? span[taken + index] : 0 }
        }
        count -= taken
    }
}

/// The messages between a client and a signer in another process. (`Docs/SignerProtocol.md`, Frames)
enum SignerFrames {
    /// The longest frames in bytes, without the four of their length.
    static let maximumRequest = 4096
    static let maximumReply = 1024
    /// The bytes of the id and of the kind or status.
    static let overhead = 5
    /// The body of a request for the public key.
    static let greeting = ContiguousArray("pushcrypt-signer/1".utf8)

    enum Kind: UInt8 {
        case publicKey = 0x01
        case sign = 0x02
        case signCertificate = 0x03
    }

    enum Status: UInt8 {
        case done = 0x00
        case refused = 0x01
    }

    /// A reply; only its form has been checked.
    struct Reply: Equatable {
        let id: UInt32
        let status: Status
        let body: ContiguousArray<UInt8>
    }

    /// The bytes are not a reply.
    struct Malformed: Error, Equatable {}

    /// Appends a request; `body` is the greeting or a sealer's message, which is far shorter than the limit.
    static func append(
        _ kind: Kind, id: UInt32, _ body: ContiguousArray<UInt8>, to output: inout ContiguousArray<UInt8>
    ) {
        precondition(!body.isEmpty && overhead + body.count <= maximumRequest)
        output.append(bigEndian: UInt32(overhead + body.count))
        output.append(bigEndian: id)
        output.append(kind.rawValue)
        output.append(contentsOf: body)
    }

    /// Returns the reply that begins at `start`, and its end; nil if it is not complete.
    static func reply(in input: Span<UInt8>, at start: Int) throws(Malformed) -> (Reply, end: Int)? {
        let input = input.extracting(start...)
        guard input.count >= 4 else { return nil }
        let length = Int(number(input, at: 0))
        // Checked before the rest arrives: otherwise a false length would make the client wait.
        guard (overhead...maximumReply).contains(length) else { throw Malformed() }
        guard input.count >= 4 + length else { return nil }
        guard let status = Status(rawValue: input[8]) else { throw Malformed() }
        let body = ContiguousArray(copying: input.extracting(9..<4 + length))
        return (Reply(id: number(input, at: 4), status: status, body: body), start + 4 + length)
    }

    private static func number(_ bytes: Span<UInt8>, at start: Int) -> UInt32 {
        (start..<start + 4).reduce(0) { $0 << 8 | UInt32(bytes[$1]) }
    }
}

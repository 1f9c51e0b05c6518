internal import Pushcrypt
internal import PushcryptCommandKit

/// One connection to a signer, for one thread at a time. (`Docs/SignerProtocol.md`)
///
/// After an error it is of no use any more.
final class SignerConnection {
    /// Why a connection is of no use any more.
    enum Failure: Error, Equatable {
        case ended(SystemError)
        case timedOut
        case malformedReply
    }

    /// How often `timeout` may pass until everything is answered: a signer that gives a little now and then ends, too.
    static let patience: UInt64 = 3

    private let socket: UnixSocket
    private let timeout: UInt64
    private var input = SignerInput()
    /// Counts over all calls, so that no late reply is taken for another's.
    private var nextID: UInt32 = 1

    /// Connects. `timeout` is how many milliseconds may pass without anything from the signer while something is asked.
    init(to path: String, timeout: UInt64) throws(Failure) {
        self.timeout = timeout
        do throws(SystemError) {
            socket = try UnixSocket(connectingTo: path, deadline: SystemEnvironment.uptime() + timeout)
        } catch {
            throw Failure(error)
        }
    }

    /// Sends every request that has no answer yet, at most `window` ahead of the replies, and stores the replies as they
    /// come.
    ///
    /// Throws `timedOut` when nothing has come for the time of `init`, or not all in three times that. When it throws, what
    /// was answered before is in `answers`.
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

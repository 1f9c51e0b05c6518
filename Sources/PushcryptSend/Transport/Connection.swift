internal import PushcryptCommandKit

/// A connection to APNs or a relay: the socket, TLS and HTTP/2.
@safe
final class Connection {
    /// How long the peer may be silent before it gets a PING, and how long it may take to answer, in milliseconds.
    static let silence: UInt64 = 60_000
    static let patience: UInt64 = 20_000
    /// How often it is read in one round: others have their turn although it never stops.
    private static let readsInRound = 16

    let link: Int
    let handle: Dialer.Handle
    private let withoutHTTP2: String
    let session: HTTP2Session
    private(set) var isConnected = false

    // Bytes that were written and not yet taken: libcurl must get the same bytes at the same place again after it had no room.
    private let output: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    private(set) var isBlocked = false
    /// Whether there may be more to read, of which the socket does not tell.
    private(set) var mayHaveMore = false
    private var hasHeard = false
    private var heardAt: UInt64 = 0
    private var pingedAt: UInt64?

    init(
        _ handle: Dialer.Handle, _ link: Int, _ destination: Destination, longestAnswer: Int = PushAnswer.maximumBody
    ) throws(HTTP2Error) {
        (self.handle, self.link, withoutHTTP2) = (handle, link, destination.withoutHTTP2)
        session = try HTTP2Session(destination, longestAnswer: longestAnswer)
        unsafe output = .allocate(byteCount: 65_536, alignment: 16)
    }

    deinit {
        unsafe output.deallocate()
    }

    var descriptor: Descriptor { handle.descriptor }
    /// Whether all that was handed to it can go out now.
    var isWritable: Bool { !isBlocked && session.hasRoom }

    func connected(at time: UInt64) {
        isConnected = true
        heardAt = time
    }

    /// Writes what the session has, until there is nothing left or no room; returns why the connection has ended, if it has.
    func flush() -> String? {
        guard isConnected else { return nil }
        while true {
            if start == end {
                start = 0
                do throws(HTTP2Error) {
                    end = try unsafe session.write(into: output)
                } catch {
                    return error.text
                }
                if end == 0 {
                    isBlocked = false
                    return nil
                }
            }
            switch unsafe handle.write(UnsafeRawBufferPointer(rebasing: output[start..<end])) {
            case .bytes(let count): start += count
            case .later:
                isBlocked = true
                return nil
            case .ended(let text): return text
            }
        }
    }

    /// Reads what is there, into `room`, up to a limit; returns why the connection has ended, if it has.
    func receive(into room: UnsafeMutableRawBufferPointer, at time: UInt64) -> String? {
        mayHaveMore = false
        for _ in 0..<Self.readsInRound {
            switch unsafe handle.read(into: room) {
            case .bytes(let count):
                heardAt = time
                guard unsafe hasHeard || !room[..<count].starts(with: "HTTP/1".utf8) else { return withoutHTTP2 }
                hasHeard = true
                do throws(HTTP2Error) {
                    try unsafe session.read(UnsafeRawBufferPointer(rebasing: room[..<count]))
                } catch {
                    return error.text
                }
            case .later: return nil
            case .ended(let text): return text
            }
        }
        mayHaveMore = true
        return nil
    }

    /// Sends a PING after a silence; returns why the connection has ended, if nothing came after the PING.
    func checkSilence(at time: UInt64) -> String? {
        guard isConnected else { return nil }
        if let pingedAt {
            if heardAt >= pingedAt {
                self.pingedAt = nil
            } else if time >= pingedAt + Self.patience {
                return "it does not answer any more"
            }
        } else if time >= heardAt + Self.silence {
            pingedAt = time
            session.ping()
        }
        return nil
    }
}

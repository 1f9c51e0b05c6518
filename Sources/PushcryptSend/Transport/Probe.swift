internal import PushcryptCommandKit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// One request on a separate connection, of which nothing is tried again.
struct Probe {
    enum Result {
        case noConnection(String)
        /// There is a connection, and no answer.
        case noAnswer(String)
        case answer(PushAnswer)
    }

    let destination: Destination

    /// Sends a request and waits for its answer.
    func send(_ push: PushToSend, authorization: String?) throws(CommandFailure) -> Result {
        let dialer = try Dialer()
        guard let handle = dialer.dial(destination) else {
            return .noConnection("libcurl refuses an option")
        }
        do throws(HTTP2Error) {
            let connection = try Connection(handle, 1, destination)
            let request = Request(
                path: "/3/device/" + push.deviceToken, headers: push.headers, authorization: authorization,
                body: push.payload)
            return try converse(dialer, connection, request)
        } catch {
            return .noConnection(error.text)
        }
    }

    private func converse(
        _ dialer: Dialer, _ connection: Connection, _ request: Request
    ) throws(HTTP2Error) -> Result {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { unsafe room.deallocate() }
        let sent = Sent([Message(number: 1, push: PushToSend(deviceToken: ""), end: .max)], token: 0, at: 0)
        let end = SystemEnvironment.uptime() + destination.timeout
        var reason: String?
        var isSent = false
        while true {
            let now = SystemEnvironment.uptime()
            guard now < end else {
                return connection.isConnected ? .noAnswer("it does not answer") : .noConnection("it takes too long")
            }
            if let text = connection.flush() { return .noAnswer(reason ?? text) }
            for (_, result) in dialer.proceed(ready: wait(dialer, connection, until: end)) {
                switch result {
                case .connected: connection.connected(at: now)
                case .failed(let text): return .noConnection(text)
                }
            }
            let loss = connection.isConnected ? unsafe connection.receive(into: room, at: now) : nil
            if loss != nil { connection.session.failAll() }
            for event in connection.session.takeEvents() {
                switch event {
                case .streams where !isSent:
                    isSent = true
                    try connection.session.send(sent, request)
                case .streams: break
                case .goingAway(let text): reason = text
                case .answered(_, let response): return .answer(PushAnswer(response))
                case .failed: return .noAnswer(reason ?? loss ?? "it refuses the stream")
                }
            }
            if let loss { return .noAnswer(reason ?? loss) }
        }
    }

    /// Waits for the connection; returns what libcurl can go on with.
    private func wait(
        _ dialer: Dialer, _ connection: Connection, until end: UInt64
    ) -> [(descriptor: Int32, reads: Bool, writes: Bool)] {
        var polls = dialer.waits.map { wait in
            pollfd(
                fd: wait.descriptor, events: Int16((wait.reads ? POLLIN : 0) | (wait.writes ? POLLOUT : 0)), revents: 0)
        }
        if connection.isConnected {
            let events = POLLIN | (connection.isBlocked ? POLLOUT : 0)
            polls.append(pollfd(fd: connection.descriptor.number, events: Int16(events), revents: 0))
        }
        let now = SystemEnvironment.uptime()
        let time = min(dialer.patience ?? .max, end - min(end, now))
        _ = unsafe poll(&polls, nfds_t(polls.count), connection.mayHaveMore ? 0 : Int32(clamping: time))
        return polls.filter { $0.revents != 0 }.map { poll in
            (poll.fd, Int32(poll.revents) & ~Int32(POLLOUT) != 0, Int32(poll.revents) & Int32(POLLOUT) != 0)
        }
    }
}

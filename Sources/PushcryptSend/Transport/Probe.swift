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
        case answer(Response)
    }

    let destination: Destination

    /// Sends a push and waits for its answer.
    func send(_ push: PushToSend, authorization: String?) throws -> Result {
        try ask(
            Request(
                path: "/3/device/" + push.deviceToken, headers: push.headers, authorization: authorization,
                body: push.payload))
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Parameter longestAnswer: The longest body that is read, in bytes.
    func ask(
        _ request: Request, longestAnswer: Int = PushAnswer.maximumBody
    ) throws -> Result {
        let dialer = try Dialer(isSecure: destination.isSecure)
        guard let handle = dialer.dial(destination) else {
            return .noConnection("libcurl refuses an option")
        }
        do throws(HTTP2Error) {
            let connection = try Connection(handle, 1, destination, longestAnswer: longestAnswer)
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
            // One request needs no more than to look again and again.
            _ = poll(nil, 0, 5)
            for (_, result) in dialer.proceed(ready: dialer.waits) {
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
                case .answered(_, let response): return .answer(response)
                case .failed: return .noAnswer(reason ?? loss ?? "it refuses the stream")
                }
            }
            if let loss { return .noAnswer(reason ?? loss) }
        }
    }
}

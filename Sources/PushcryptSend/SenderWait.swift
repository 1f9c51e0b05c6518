internal import PushcryptCommand
internal import PushcryptCommandKit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

extension Sender {
    private enum Source {
        case input, output, stop
        case dialer
        case connection(Connection, Route)
    }

    /// Waits until something can go on, and reads what has come.
    func wait(reading room: UnsafeMutableRawBufferPointer) throws(CommandFailure) {
        var sources: [Source] = []
        var polls: [pollfd] = []
        func add(_ source: Source, _ descriptor: Int32, reads: Bool, writes: Bool) {
            sources.append(source)
            let events = (reads ? POLLIN : 0) | (writes ? POLLOUT : 0)
            polls.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
        }
        if !lines.isStopped { add(.stop, stop.descriptor.number, reads: true, writes: false) }
        let wants = lines.wants(takesInput: lines.takesInput(deferred: deferred))
        if wants.input { add(.input, lines.descriptor.number, reads: true, writes: false) }
        if lines.hasOutput { add(.output, console.output.number, reads: false, writes: true) }
        for wait in dialer.waits { add(.dialer, wait.descriptor, reads: wait.reads, writes: wait.writes) }
        for route in routes.values {
            for connection in route.connections where connection.isConnected {
                add(
                    .connection(connection, route), connection.descriptor.number, reads: true,
                    writes: connection.isBlocked)
            }
        }
        guard unsafe poll(&polls, nfds_t(polls.count), wants.line ? 0 : timeout()) >= 0 || errno == EINTR else {
            throw .failed("cannot wait: \(SystemError.last.text)")
        }
        var dialling: [(descriptor: Int32, reads: Bool, writes: Bool)] = []
        for (source, result) in zip(sources, polls) {
            if case .connection(let connection, _) = source, connection.mayHaveMore {
                // What TLS has decrypted is no longer in the socket.
            } else if result.revents == 0 {
                continue
            }
            switch source {
            case .stop: halt()
            case .input: lines.read()
            // It is written at the beginning of the next round.
            case .output: break
            case .dialer:
                let isReadable = Int32(result.revents) & ~Int32(POLLOUT) != 0
                dialling.append((result.fd, isReadable, Int32(result.revents) & Int32(POLLOUT) != 0))
            case .connection(let connection, let route):
                if let text = unsafe connection.receive(into: room, at: now.uptime) {
                    lose(connection, text, of: route)
                } else {
                    _ = takeEvents(of: connection, route)
                    if connection.session.isOver { lose(connection, "it ended the connection", of: route) }
                }
            }
        }
        for (owner, link, result) in dialer.proceed(ready: dialling, at: now.uptime) {
            guard let route = routes.values.first(where: { ObjectIdentifier($0) == owner }) else { continue }
            connect(link, result, route)
        }
        for route in routes.values {
            for connection in route.connections {
                if let text = connection.checkSilence(at: now.uptime) { lose(connection, text, of: route) }
            }
        }
    }

    private func connect(_ link: Int, _ result: Dialer.Result, _ route: Route) {
        guard let connection = route.connections.first(where: { $0.link == link }) else { return }
        switch result {
        case .connected:
            lines.report("connected", [("connection", .number(link)), ("host", .word(route.destination.host))])
            connection.connected(at: now.uptime)
            route.dispatcher.connected(link)
        case .failed(let text):
            close(connection, of: route)
            route.dispatcher.connectionFailed(link, text, at: now)
        }
    }

    /// The milliseconds until something is due.
    private func timeout() -> Int32 {
        let now = now
        if routes.values.contains(where: { $0.connections.contains(where: \.mayHaveMore) }) { return 0 }
        var time = now.uptime + 1000
        if let wake = dialer.wakeTime { time = min(time, wake) }
        for route in routes.values {
            if let wake = route.dispatcher.wakeTime(at: now) { time = min(time, wake) }
        }
        return Int32(clamping: time - min(time, now.uptime))
    }
}

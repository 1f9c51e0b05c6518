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
        case connection(Connection, Line)
    }

    /// Waits until something can go on, and reads what has come.
    func wait(reading room: UnsafeMutableRawBufferPointer) throws {
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
        for line in routes.values {
            for connection in line.connections where connection.isConnected {
                add(
                    .connection(connection, line), connection.descriptor.number, reads: true,
                    writes: connection.isBlocked)
            }
        }
        let time = wants.line ? 0 : timeout()
        guard unsafe poll(&polls, nfds_t(polls.count), time) >= 0 || errno == EINTR else {
            throw Failure.failed("cannot wait: \(SystemError.last.text)")
        }
        lines.woke(afterMeaningToWait: UInt64(time))
        var dialling: [(descriptor: Int32, reads: Bool, writes: Bool)] = []
        for (source, result) in zip(sources, polls) {
            if case .connection(let connection, _) = source, connection.mayHaveMore {
                // TLS may have decrypted bytes that are no longer in the socket.
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
            case .connection(let connection, let line):
                if let text = unsafe connection.receive(into: room, at: now.uptime) {
                    lose(connection, text, of: line)
                } else {
                    _ = takeEvents(of: connection, line)
                    if connection.session.isOver { lose(connection, "it ended the connection", of: line) }
                }
            }
        }
        for (handle, result) in dialer.proceed(ready: dialling) {
            for line in routes.values {
                for connection in line.connections where connection.handle === handle {
                    take(result, connection, line)
                }
            }
        }
        for line in routes.values {
            for connection in line.connections {
                if let text = connection.checkSilence(at: now.uptime) { lose(connection, text, of: line) }
            }
        }
    }

    private func take(_ result: Dialer.Result, _ connection: Connection, _ line: Line) {
        let link = connection.link
        switch result {
        case .connected:
            lines.report("connected", [("connection", .number(link)), ("host", .word(line.route.destination.host))])
            connection.connected(at: now.uptime)
            line.dispatcher.connected(link)
        case .failed(let text):
            close(connection, of: line)
            line.dispatcher.lost(link, text, at: now)
        }
    }

    /// The milliseconds until something is due.
    private func timeout() -> Int32 {
        let now = now
        if routes.values.contains(where: { $0.connections.contains(where: \.mayHaveMore) }) { return 0 }
        var time = min(1000, dialer.patience ?? 1000)
        for line in routes.values {
            if let wake = line.dispatcher.wakeTime(at: now) { time = min(time, wake - min(wake, now.uptime)) }
        }
        return Int32(time)
    }
}

internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

// The dispatchers' requests, and the connections' events.

extension Sender {
    /// Carries out what the dispatchers want, and writes to the connections, until nothing is left to do now.
    func act() {
        for line in routes.values {
            var isDone = false
            while !isDone {
                isDone = true
                while let action = line.dispatcher.nextAction(at: now) {
                    isDone = false
                    carryOut(action, line)
                }
                for connection in line.connections {
                    if let text = connection.flush() {
                        lose(connection, text, of: line)
                        continue
                    }
                    if takeEvents(of: connection, line) { isDone = false }
                    if connection.isConnected, connection.session.isOver {
                        lose(connection, "it ended the connection", of: line)
                        isDone = false
                    }
                }
            }
            for (message, outcome) in line.dispatcher.answers { lines.answer(message, outcome) }
            line.dispatcher.answers.removeAll(keepingCapacity: true)
        }
    }

    private func carryOut(_ action: Dispatcher.Action, _ line: Line) {
        switch action {
        case .connect(let link): connect(link, line)
        case .send(let sent, let link):
            guard let connection = line.connection(link) else { return }
            do {
                let request = try line.route.request(sent, at: line.dispatcher.clock.time(now))
                do throws(HTTP2Error) {
                    try connection.session.send(sent, request)
                    lines.counts.requests += 1
                    line.dispatcher.writes(connection.isWritable, on: link)
                } catch {
                    // The numbers of its streams are used up.
                    line.dispatcher.goingAway(link)
                    line.dispatcher.failed(sent, wasRead: false, on: link, at: now)
                }
            } catch {
                let error = Failure(error)
                // The run ends with an error, after the answers that are under way.
                lines.fail(error)
                halt()
                line.dispatcher.failed(sent, wasRead: false, on: link, at: now)
            }
        case .cancel(let sent, let link):
            var wasRead = true
            if let connection = line.connection(link) {
                guard let isSent = connection.session.cancel(sent) else { return }
                wasRead = isSent
            }
            lines.report("timed-out", [("connection", .number(link))])
            line.dispatcher.failed(sent, wasRead: wasRead, on: link, at: now)
        case .close(let link): if let connection = line.connection(link) { end(connection, of: line) }
        }
    }

    private func connect(_ link: Int, _ line: Line) {
        let destination = line.route.destination
        guard let handle = dialer.dial(destination) else {
            return line.dispatcher.lost(link, "libcurl refuses an option", at: now)
        }
        do throws(HTTP2Error) {
            line.connections.append(
                try Connection(handle, link, destination, longestAnswer: type(of: line.route).longestAnswer))
        } catch {
            dialer.close(handle)
            line.dispatcher.lost(link, error.text, at: now)
        }
    }

    /// Says that nothing more comes, and closes.
    func end(_ connection: Connection, of line: Line) {
        connection.session.goAway()
        _ = connection.flush()
        close(connection, of: line)
    }

    func close(_ connection: Connection, of line: Line) {
        dialer.close(connection.handle)
        line.connections.removeAll { $0 === connection }
    }

    func lose(_ connection: Connection, _ text: String, of line: Line) {
        connection.session.failAll()
        _ = takeEvents(of: connection, line)
        lines.report("connection-lost", [("connection", .number(connection.link)), ("reason", .word(text))])
        line.dispatcher.lost(connection.link, text, at: now)
        close(connection, of: line)
    }

    /// Passes on what happened on a connection; returns whether anything did.
    func takeEvents(of connection: Connection, _ line: Line) -> Bool {
        let events = connection.session.takeEvents()
        let (dispatcher, link) = (line.dispatcher, connection.link)
        for event in events {
            switch event {
            case .streams(let count): dispatcher.allowed(count, on: link)
            case .goingAway(let reason):
                lines.report("going-away", [("connection", .number(link)), ("reason", .word(reason))])
                dispatcher.goingAway(link)
            case .answered(let sent, let response):
                let now = now
                lines.counts.latency.add((now.uptime - min(now.uptime, sent.at)) * 1_000_000)
                let answers = line.route.answers(response, to: sent)
                for answer in answers where answer.scope != .accepted {
                    lines.counts.count(answer.kind)
                }
                dispatcher.answered(sent, answers, on: link, at: now)
            case .failed(let sent, let wasRead):
                lines.counts.count(wasRead ? "none" : "unread")
                dispatcher.failed(sent, wasRead: wasRead, on: link, at: now)
            }
        }
        return dispatcher.writes(connection.isWritable, on: link) || !events.isEmpty
    }
}

internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

// What the dispatchers want, and what happens on the connections.

extension Sender {
    /// Carries out what the dispatchers want, and writes to the connections, until nothing is left to do now.
    func act() {
        for route in routes.values {
            var isDone = false
            while !isDone {
                isDone = true
                while let action = route.dispatcher.nextAction(at: now) {
                    isDone = false
                    carryOut(action, route)
                }
                for connection in route.connections {
                    if let text = connection.flush() {
                        lose(connection, text, of: route)
                    } else if takeEvents(of: connection, route) {
                        isDone = false
                    } else if connection.isConnected, connection.session.isOver {
                        lose(connection, "it ended the connection", of: route)
                        isDone = false
                    }
                }
            }
            for (delivery, outcome) in route.dispatcher.answers { lines.answer(delivery, outcome) }
            route.dispatcher.answers.removeAll(keepingCapacity: true)
        }
    }

    private func carryOut(_ action: Dispatcher.Action, _ route: Route) {
        switch action {
        case .connect(let link):
            guard let handle = dialer.dial(route.destination, for: link, of: ObjectIdentifier(route)) else {
                return route.dispatcher.connectionFailed(link, "libcurl refuses an option", at: now)
            }
            do throws(HTTP2Error) {
                route.connections.append(try Connection(handle, link, authority: route.destination.authority))
            } catch {
                dialer.close(handle)
                route.dispatcher.connectionFailed(link, error.text, at: now)
            }
        case .send(let delivery, let link):
            guard let connection = route.connections.first(where: { $0.link == link }) else { return }
            let authorization: String?
            do throws(CommandFailure) {
                authorization = try token?.authorization(delivery.tokenGeneration, at: now, console)
            } catch {
                fail(error)
                return route.dispatcher.failed(delivery, wasRead: false, on: link, at: now)
            }
            do throws(HTTP2Error) {
                try connection.session.send(delivery, authorization: authorization)
                lines.counts.requests += 1
            } catch {
                // The numbers of its streams are used up.
                route.dispatcher.goingAway(link)
                route.dispatcher.failed(delivery, wasRead: false, on: link, at: now)
            }
        case .cancel(let delivery, let link):
            var wasRead = true
            if let connection = route.connections.first(where: { $0.link == link }) {
                guard let isSent = connection.session.cancel(delivery) else { return }
                wasRead = isSent
            }
            lines.report("timed-out", [("connection", .number(link))])
            route.dispatcher.failed(delivery, wasRead: wasRead, on: link, at: now)
        case .close(let link):
            guard let connection = route.connections.first(where: { $0.link == link }) else { return }
            connection.session.goAway()
            _ = connection.flush()
            close(connection, of: route)
        }
    }

    func close(_ connection: Connection, of route: Route) {
        dialer.close(connection.handleToClose)
        route.connections.removeAll { $0 === connection }
    }

    func lose(_ connection: Connection, _ text: String, of route: Route) {
        connection.session.failAll()
        _ = takeEvents(of: connection, route)
        lines.report("connection-lost", [("connection", .number(connection.link)), ("reason", .word(text))])
        route.dispatcher.lost(connection.link, text, at: now)
        close(connection, of: route)
    }

    /// Passes on what happened on a connection; returns whether anything did.
    func takeEvents(of connection: Connection, _ route: Route) -> Bool {
        let events = connection.session.takeEvents()
        let (dispatcher, link) = (route.dispatcher, connection.link)
        for event in events {
            switch event {
            case .streams(let count): dispatcher.allowed(count, on: link)
            case .goingAway(let reason):
                lines.report("going-away", [("connection", .number(link)), ("reason", .word(reason))])
                dispatcher.goingAway(link)
            case .answered(let delivery, let answer):
                lines.counts.latency.add((now.uptime - min(now.uptime, delivery.sentAt)) * 1_000_000)
                if answer.verdict != .accepted { lines.counts.answers[answer.kind, default: 0] += 1 }
                dispatcher.answered(delivery, answer, on: link, at: now)
            case .failed(let delivery, let wasRead):
                lines.counts.answers[wasRead ? "none" : "unread", default: 0] += 1
                dispatcher.failed(delivery, wasRead: wasRead, on: link, at: now)
            }
        }
        return !events.isEmpty
    }

    /// Ends the run with an error, after the answers that are under way.
    private func fail(_ error: CommandFailure) {
        lines.fail(error)
        halt()
    }
}

/// What keeps messages from APNs now.
struct Trouble: Equatable {
    enum Kind: String, CaseIterable {
        /// There is no connection.
        case connection
        /// APNs says that it is busy.
        case busy
        /// APNs refuses the provider token or the certificate.
        case login
        /// APNs refuses every message of a topic.
        case topic
        /// This machine's clock differs from APNs'.
        case clock
    }

    let kind: Kind
    /// The topic; otherwise empty.
    var subject = ""
    /// What APNs or the system says.
    let text: String
}

extension Dispatcher {
    /// Everything that keeps messages from APNs now.
    var troubles: [Trouble] {
        var troubles: [Trouble] = []
        if let ahead = clock.error {
            troubles.append(Trouble(kind: .clock, text: "\(ClockGuard.text(ahead)): set it"))
        }
        if health.isDown, !links.contains(where: { $0.isUseful == true }) {
            troubles.append(Trouble(kind: .connection, text: health.error ?? "APNs allows no request"))
        }
        if let slow = health.slow { troubles.append(Trouble(kind: .busy, text: "APNs says \(slow.text)")) }
        for (place, pause) in breaker.pauses {
            let text = "APNs refuses it with \(pause.answer.text): \(pause.answer.advice)"
            switch place {
            case .login: troubles.append(Trouble(kind: .login, text: text))
            case .topic(let topic): troubles.append(Trouble(kind: .topic, subject: topic, text: text))
            }
        }
        return troubles
    }
}

/// The outages of a route, as they are said: at the beginning, once a minute, and at the end.
struct Outages {
    /// The time between lines about one outage, in milliseconds.
    static let interval: UInt64 = 60_000

    enum Phase: String { case begins, continues, ended }

    struct Line: Equatable {
        let phase: Phase
        let trouble: Trouble
        /// The milliseconds since its beginning.
        let duration: UInt64
        /// The requests and the connections that were tried since.
        let attempts: Int
        let waiting: Int
    }

    private struct Open {
        var trouble: Trouble
        let since: UInt64
        var saidAt: UInt64
        let attempts: Int
    }

    private var open: [Open] = []

    /// Returns what is to be said now.
    ///
    /// - Parameter attempts: The requests and the connections of the run.
    mutating func update(_ troubles: [Trouble], attempts: Int, waiting: Int, at now: UInt64) -> [Line] {
        guard !open.isEmpty || !troubles.isEmpty else { return [] }
        var lines: [Line] = []
        func say(_ phase: Phase, _ one: Open) {
            lines.append(
                Line(
                    phase: phase, trouble: one.trouble, duration: now - one.since, attempts: attempts - one.attempts,
                    waiting: waiting))
        }
        open.removeAll { one in
            let isOver = !troubles.contains { $0.kind == one.trouble.kind && $0.subject == one.trouble.subject }
            if isOver { say(.ended, one) }
            return isOver
        }
        for trouble in troubles {
            guard
                let index = open.firstIndex(where: {
                    $0.trouble.kind == trouble.kind && $0.trouble.subject == trouble.subject
                })
            else {
                open.append(Open(trouble: trouble, since: now, saidAt: now, attempts: attempts))
                open.last.map { say(.begins, $0) }
                continue
            }
            open[index].trouble = trouble
            guard now >= open[index].saidAt + Self.interval else { continue }
            open[index].saidAt = now
            say(.continues, open[index])
        }
        return lines
    }
}

/// A cause that keeps messages from APNs now.
struct Trouble: Equatable {
    enum Kind: String, CaseIterable {
        /// There is no connection.
        case connection
        /// Whoever answers is busy.
        case busy
        /// The provider token, the certificate or the push key is refused.
        case login
        /// Every message of a topic is refused.
        case topic
        /// This machine's clock differs from the server's.
        case clock
    }

    let kind: Kind
    /// The topic; otherwise empty.
    var subject = ""
    /// The words of APNs or the system.
    let text: String
}

extension Dispatcher {
    /// Everything that keeps messages from APNs now, and a clock that should be set.
    var troubles: [Trouble] {
        var troubles: [Trouble] = []
        if clock.offset != 0 {
            let seconds = abs(clock.offset) / 1000
            let side = clock.offset > 0 ? "behind" : "ahead of"
            let seal =
                seconds > 3600 ? ", and seal again: phones refuse messages that are too old or from the future" : ""
            let text = "this machine's clock is \(seconds) s \(side) that of \(settings.peer): set it\(seal)"
            troubles.append(Trouble(kind: .clock, text: text))
        }
        if let why = dialling.why, !links.contains(where: { $0.isUseful == true }) {
            troubles.append(Trouble(kind: .connection, text: why))
        }
        if let why = route.why { troubles.append(Trouble(kind: .busy, text: "\(why.speaker) says \(why.text)")) }
        for (place, gate) in gates {
            guard let why = gate.why else { continue }
            let text = "\(why.speaker) refuses it with \(why.text): \(why.advice)"
            switch place {
            case .login: troubles.append(Trouble(kind: .login, text: text))
            case .topic(let topic): troubles.append(Trouble(kind: .topic, subject: topic, text: text))
            case .clock: break
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

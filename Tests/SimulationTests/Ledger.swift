/// The oracle: compares facts with promises. It uses no code of the product. Times are milliseconds, by the clock that each names.
struct Ledger {
    enum Rule: String, CaseIterable {
        /// Every line is answered once.
        case answeredOnce
        /// Nothing rings twice.
        case ringsOnce
        /// No acknowledged registration is lost, and every push opens that still can.
        case nothingLost
        /// No epoch opens below a floor that was accepted.
        case floor
        /// Nothing that a thief read opens a message, changes a device, or pushes.
        case thief
        /// After a log-out nothing opens, and no server has a token or live grant.
        case logOut
        /// Nothing refuses because of a clock, a gap or a backup.
        case neverRefuses
        /// After a quiet hour every fresh message is shown.
        case quietHour
    }

    /// A message as it was sealed.
    struct Message {
        let number: Int
        let login: Int
        /// Messages of one name ring once.
        var name: String
        /// By the provider's clock.
        let sealedAt: Int64
        var life: Int64 = 30 * Ledger.day
        var epoch: UInt32 = 0
        /// The device key.
        var key = ""
        var isForged = false
    }

    /// The outcome of a push on a phone.
    struct Arrival {
        var code: String
        var rings = false
        /// The floor that the phone knows afterwards.
        var floor: UInt32 = 0
        /// The phone's clock.
        var clock: Int64
        var isLocked = false
    }

    private struct Login {
        /// The user's account on this app, the same for later logins.
        let user: String
        let app: Int
        let server: String
        var isHeard = false
        var isOver = false
        var isSilent = false
        /// When the server took the last registration that it has acknowledged, by the true time.
        var acknowledged: UInt64?
    }

    private static let day: Int64 = 86_400_000
    private(set) var violations: [(rule: Rule, text: String)] = []
    private var logins: [Int: Login] = [:]
    private var messages: [Int: Message] = [:]
    private var open: Set<Int> = []
    /// Backups, and when they were restored, by the true time.
    private var restores: [(server: String, to: UInt64, at: UInt64)] = []
    /// The last message of each name that rang.
    private var rung: [String: Message] = [:]
    private var shown: Set<Int> = []
    private var excused: Set<Int> = []
    private var withdrawn: Set<String> = []
    private var floors: [Int: UInt32] = [:]
    /// The latest time that the clock of an app's phone has shown.
    private var latest: [Int: Int64] = [:]
    private var retired: [String: Int64] = [:]
    /// The messages that the user has answered, and when, by the phone's clock.
    private var responses: [Int: Int64] = [:]
    /// When an epoch was replaced, by the provider's clock.
    private var replaced: [String: Int64] = [:]
    private var stolen: Set<String> = []
    private var raised: [String: UInt32] = [:]
    /// The first epoch after the last theft.
    private var afterTheft: [String: UInt32] = [:]
    /// The highest epoch of a genuine message that an app has opened.
    private var newest: [Int: UInt32] = [:]

    private mutating func violate(_ rule: Rule, _ text: String) { violations.append((rule, text)) }

    // MARK: Logins

    mutating func began(_ login: Int, of user: String, app: Int, at server: String) {
        logins[login] = Login(user: user, app: app, server: server)
    }

    /// The phone has a reply, and with it the provider's key.
    mutating func heard(_ login: Int, at time: UInt64) {
        logins[login]?.isHeard = true
        let isLost = restores.contains { $0.server == logins[login]?.server && $0.to <= time && time < $0.at }
        logins[login]?.acknowledged = isLost ? nil : time
    }

    /// APNs has told the server that the token is gone.
    mutating func gone(_ login: Int) { logins[login]?.acknowledged = nil }

    /// The user has logged out; `silently` if the phone cannot tell anybody, because another one replaced it.
    mutating func ended(_ login: Int, silently: Bool = false) {
        logins[login]?.isOver = true
        let isUnheard = logins[login]?.isHeard == false
        logins[login]?.isSilent = silently || isUnheard
    }

    /// Another phone replaces this one, and unsent ends of earlier logins are lost.
    mutating func moved(_ app: Int) {
        for (login, facts) in logins where facts.app == app && facts.isOver { logins[login]?.isSilent = true }
    }

    mutating func retired(_ key: String, at clock: Int64) { retired[key] = retired[key] ?? clock }

    mutating func clock(of app: Int, shows time: Int64) { latest[app] = max(latest[app] ?? time, time) }

    /// The server has lost every registration after this time; phones repeat them.
    mutating func restored(_ server: String, to time: UInt64, at now: UInt64) {
        restores.append((server, time, now))
        for (login, facts) in logins where facts.server == server && facts.acknowledged.map({ $0 >= time }) == true {
            logins[login]?.acknowledged = nil
        }
    }

    /// The logins whose devices the server has.
    mutating func server(_ server: String, has devices: Set<Int>) {
        for (login, facts) in logins.sorted(by: { $0.key < $1.key })
        where facts.server == server && facts.acknowledged != nil && !facts.isOver && !devices.contains(login) {
            violate(.nothingLost, "the server has lost the device of login \(login)")
        }
    }

    /// The user and the address of every device that a server has. If two share an address, each push comes twice.
    mutating func server(_ server: String, hasRows rows: [String]) {
        for row in rows.sorted() where rows.count(where: { $0 == row }) > 1 {
            violate(.ringsOnce, "the server has two devices: \(row)")
            return
        }
    }

    /// A token or a live grant that a server has in the end.
    mutating func remains(_ what: String, of login: Int) {
        guard let facts = logins[login], facts.isOver, !facts.isSilent else { return }
        violate(.logOut, "a server has \(what) of login \(login)")
    }

    // MARK: Messages

    mutating func sealed(_ message: Message, withdrawing name: String? = nil) {
        messages[message.number] = message
        if let name, let login = logins[message.login] { withdrawn.insert("\(login.user) \(name)") }
    }

    mutating func sent(_ line: Int) { open.insert(line) }

    mutating func answered(_ line: Int) {
        if open.remove(line) == nil { violate(.answeredOnce, "line \(line) is answered twice, or was never sent") }
    }

    /// The sender was killed: its open lines will be sent again.
    mutating func senderKilled() { open = [] }

    /// The message may never arrive.
    mutating func excuse(_ number: Int) { excused.insert(number) }

    mutating func arrived(_ number: Int, _ arrival: Arrival) {
        guard let message = messages[number], let login = logins[message.login] else { return }
        let isOpened = arrival.code == "opened"
        if isOpened {
            shown.insert(number)
            if login.isOver { violate(.logOut, "message \(number) opens after the log-out of login \(message.login)") }
            if message.epoch < floors[login.app] ?? 0 {
                violate(.floor, "message \(number) of epoch \(message.epoch) opens below \(floors[login.app] ?? 0)")
            }
            if message.isForged {
                if !stolen.contains("\(login.server) \(message.epoch)") {
                    violate(.thief, "message \(number) of a thief who has no signing key opens")
                }
                // After one genuine message a phone no longer believes the thief; a planned rotation does not end that belief.
                if let end = afterTheft[login.server], message.epoch < end, newest[login.app] ?? 0 >= end {
                    violate(.thief, "message \(number) opens after the theft was noticed")
                }
            } else {
                newest[login.app] = max(newest[login.app] ?? 0, message.epoch)
            }
        } else if !message.isForged, let problem = problem(message, login, arrival) {
            violate(.nothingLost, "message \(number): \(problem)")
        } else {
            excused.insert(number)
        }
        floors[login.app] = max(floors[login.app] ?? 0, arrival.floor)
        guard arrival.rings, !message.isForged else { return }
        let name = "\(message.login) \(message.name)"
        // After a theft a name rings again, because the thief may have used it; so it does when the first message has expired.
        if let first = rung[name], first.epoch >= floors[login.app] ?? 0,
            first.number == number || message.sealedAt <= first.sealedAt + first.life
        {
            violate(.ringsOnce, "message \(number) rings, as \(first.number) did")
        }
        rung[name] = message
    }

    /// Returns why a message should have opened, or nil.
    private func problem(_ message: Message, _ login: Login, _ arrival: Arrival) -> String? {
        // Too early, or expired: then any reason will do.
        guard message.sealedAt <= arrival.clock + Self.day, arrival.clock <= message.sealedAt + message.life - 600_000
        else { return nil }
        let isExcused: Bool
        let retired = retired[message.key] ?? .max - 32 * Self.day
        switch arrival.code {
        case "withdrawn": isExcused = withdrawn.contains("\(login.user) \(message.name)")
        case "unknown-recipient-key":
            isExcused = login.isOver || max(latest[login.app] ?? 0, arrival.clock) > retired + 31 * Self.day
        case "authentication-failed":
            let grace = (replaced["\(login.server) \(message.epoch)"] ?? .max - 39 * Self.day) + 38 * Self.day
            isExcused = !login.isHeard || message.epoch < raised[login.server] ?? 0 || arrival.clock > grace
        default: isExcused = arrival.isLocked
        }
        return isExcused ? nil : arrival.code
    }

    // MARK: Responses

    /// The user has answered a message.
    mutating func responded(_ number: Int, at clock: Int64) { responses[number] = clock }

    /// The app's handler is done with the response. If it throws, the response ends only after three days.
    mutating func handled(_ number: Int, at clock: Int64, throws: Bool) {
        guard let begin = responses[number], !`throws` || clock > begin + 3 * Self.day else { return }
        responses[number] = nil
    }

    // MARK: Keys

    mutating func rotated(
        _ server: String, from epoch: UInt32, to next: UInt32, floor: UInt32, stolen: Bool = false, at clock: Int64
    ) {
        if stolen { afterTheft[server] = next }
        replaced["\(server) \(epoch)"] = min(replaced["\(server) \(epoch)"] ?? clock, clock)
        raised[server] = max(raised[server] ?? 0, floor)
    }

    mutating func signingKeyStolen(_ server: String, _ epoch: UInt32) { stolen.insert("\(server) \(epoch)") }

    mutating func thief(_ deed: String) { violate(.thief, deed) }

    mutating func refused(_ text: String) { violate(.neverRefuses, text) }

    // MARK: In the end

    /// A quiet time is over, and these messages were sealed in its last hour.
    mutating func quiet(_ fresh: [Int], _ users: Set<Int>) {
        for login in users.subtracting(fresh.compactMap { messages[$0]?.login }).sorted() {
            violate(.quietHour, "no message is sealed to login \(login)")
        }
        for line in open.sorted() { violate(.answeredOnce, "line \(line) is never answered") }
        for number in fresh where !shown.contains(number) {
            guard let login = messages[number]?.login, users.contains(login) else { continue }
            violate(.quietHour, "message \(number) to login \(login) is not shown")
        }
        for (number, begin) in responses.sorted(by: { $0.key < $1.key }) {
            guard let login = messages[number].flatMap({ logins[$0.login] }), !login.isOver else { continue }
            // After 31 days the key to which it is sealed has ended.
            guard latest[login.app] ?? 0 < begin + 31 * Self.day else { continue }
            violate(.nothingLost, "the response to message \(number) is lost")
        }
        for (number, message) in messages.sorted(by: { $0.key < $1.key })
        where !message.isForged && !shown.contains(number) && !excused.contains(number)
            && logins[message.login]?.isOver == false
        {
            violate(.nothingLost, "message \(number) never arrived")
        }
    }
}

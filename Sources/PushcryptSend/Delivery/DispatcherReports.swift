// Events that the caller reports.

extension Dispatcher {
    private static let shortestPause: UInt64 = 1000
    private static let longestPause: UInt64 = 10_000
    /// The longest pause that the server may ask for, and of a device that is busy.
    static let longestWait: UInt64 = 900_000
    /// How often a request that was not read goes out again at once.
    private static let unreadAtOnce = 3
    /// How often a message is sent that has answers which APNs does not give.
    private static let mostStrange = 6
    /// The decisions that forgive failed connections, and that show a connection to be of use.
    private static let enoughDecisions = 3
    /// Topics have gates up to this number.
    private static let mostTopics = 1000

    /// Reports that a connection is made, and verified.
    func connected(_ link: Int) { change(link) { $0.isConnected = true } }

    /// Reports that a connection cannot be made, or has ended; before, `failed` was called for each of its requests.
    func lost(_ link: Int, _ text: String, at now: Moment) {
        if let index = index(of: link) { judge(links.remove(at: index), text, now) }
    }

    /// Reports how many requests may be open.
    func allowed(_ count: Int, on link: Int) { change(link) { $0.capacity = min(count, settings.mostStreams) } }

    /// Reports whether all that was handed to a connection can go out; returns whether that is new.
    @discardableResult
    func writes(_ isWritable: Bool, on link: Int) -> Bool {
        guard let index = index(of: link), links[index].isWritable != isWritable else { return false }
        links[index].isWritable = isWritable
        return true
    }

    /// Reports that the other side ends a connection; requests that it has taken may still be answered.
    func goingAway(_ link: Int) { change(link) { $0.isDraining = true } }

    private func index(of link: Int) -> Int? { links.firstIndex { $0.number == link } }

    private func change(_ link: Int, _ body: (inout Link) -> Void) {
        if let index = index(of: link) { body(&links[index]) }
    }

    /// Decides whether a connection that has ended counts as failed.
    func judge(_ link: Link, _ text: String, _ now: Moment) {
        if link.isUseful != true, link.decisions < Self.enoughDecisions {
            decisionsInARow = 0
            dialling.bad(link, text, now)
        } else if decisionsInARow > 0 {
            dialling.good()
        }
    }

    private func remove(_ sent: Sent, from link: Int) -> Int? {
        guard let index = index(of: link), links[index].requests.removeValue(forKey: sent.number) != nil else {
            return nil
        }
        return index
    }
}

// MARK: Answers

extension Dispatcher {
    /// Reports the answers to a request, one for each message.
    func answered(_ sent: Sent, _ answers: [PushAnswer], on link: Int, at now: Moment) {
        let open = inFlight
        guard let index = remove(sent, from: link), let first = answers.first else { return }
        let isUseful = answers.contains(where: \.isDecision)
        links[index].heardAt = now.uptime
        answeredSince = max(answeredSince, sent.at)
        if first.scope != .link || links[index].isUseful == nil { links[index].isUseful = isUseful }
        if isUseful {
            links[index].decisions += 1
            links[index].isProven = true
        }
        // An answer that is no refusal of the login proves it, whatever the time.
        let isCorrected = clock.heard(first.time, now)
        if isCorrected, first.scope == .login { tokens?.renew(at: now) }
        if sent.messages[0] === question {
            question = nil
            return
        }
        if first.isWhole, first.scope != .login { return refuse(sent.messages, first, now) }
        batchSize = min(settings.mostMessages, batchSize + 1)
        var othersKeys: [Message] = []
        for (message, answer) in zip(sent.messages, answers) {
            message.attempts += 1
            if answer.isDecision { worked(sent, open, answer) }
            if answer.isOtherKey, !message.usesOtherKey {
                message.usesOtherKey = true
                message.note(.answer(answer))
                othersKeys.append(message)
            } else {
                take(answer, message, sent, index, isCorrected, now)
            }
        }
        // Each goes to the front, and they keep their order.
        for message in othersKeys.reversed() { again(message) }
    }

    private func worked(_ sent: Sent, _ open: Int, _ answer: PushAnswer) {
        decisionsInARow += 1
        budget.add(1)
        if decisionsInARow >= Self.enoughDecisions || dialling.why == nil { dialling.good() }
        if answer.scope != .device { window.good(sentAt: sent.at, open) }
        _ = route.good()
        pass(.login)
    }

    /// Opens a gate, and has ready what waited for it.
    private func pass(_ place: Place) {
        // Asking first spares nearly every answer a change of the dictionary.
        guard gates[place]?.isAtRest == false else { return }
        if gates[place]?.good() == true { waiting.release(place) }
    }

    private func take(
        _ answer: PushAnswer, _ message: Message, _ sent: Sent, _ index: Int, _ isCorrected: Bool, _ now: Moment
    ) {
        switch answer.scope {
        case .accepted:
            judgeTopic(answer, message, now)
            self.answer(message, .accepted(answer))
        case .refused:
            judgeTopic(answer, message, now)
            self.answer(message, .refused(answer))
        case .login:
            message.note(.answer(answer))
            // The time was wrong, or the provider token is too old: both are new now.
            if isCorrected { return again(message) }
            if renewsToken(answer, message, sent, now) { return again(message) }
            closeLogin(answer, message, now)
            guard !isHeld(message, .login) else { return }
            message.hold = answer
            retry(message, after: pause(message.attempts), now)
        case .link:
            message.note(.answer(answer))
            // This connection knows another token.
            if answer.status != 429 || links[index].token != sent.token { links[index].isDraining = true }
            if answer.concernsLogin { closeLogin(answer, message, now) }
            if !isHeld(message, .login) { again(message) }
        case .device:
            message.note(.answer(answer))
            setBusy(message, pause(message.attempts, answer.retryAfter, Self.longestWait), now)
        case .strange where message.attempts >= Self.mostStrange: refuse(message, answer)
        case .route, .strange:
            message.note(.answer(answer))
            decisionsInARow = 0
            // One busy device counts once.
            if waiting.busyUntil(message.push.deviceToken) <= now.uptime { window.busy() }
            route.bad(answer, message.push.deviceToken, now)
            setBusy(message, pause(message.attempts, answer.retryAfter), now)
        case .unknown:
            decisionsInARow = 0
            route.bad(answer, message.push.deviceToken, now)
            repeatUnknown(message, now)
        }
    }

    /// Ends a message; one that an earlier request may have brought stays unknown.
    private func refuse(_ message: Message, _ answer: PushAnswer) {
        self.answer(message, message.mayHaveArrived ? .unknown(answer) : .refused(answer))
    }

    /// A relay has read nothing of a request: all goes back, and the route waits, or the next request is smaller.
    private func refuse(_ messages: [Message], _ answer: PushAnswer, _ now: Moment) {
        if answer.status == 429 || answer.status == 503 {
            route.close(answer, until: now.uptime + pause(2, answer.retryAfter))
        } else if messages.count > 1, answer.status == 400 || answer.status == 413 {
            batchSize = max(1, messages.count / 2)
        } else {
            for message in messages { refuse(message, answer) }
            return
        }
        for message in messages.reversed() {
            message.note(.answer(answer))
            again(message)
        }
    }

    private func renewsToken(_ answer: PushAnswer, _ message: Message, _ sent: Sent, _ now: Moment) -> Bool {
        guard let tokens, answer.reason == "ExpiredProviderToken" || tokens.isKept(sent.token), !message.hasRenewed,
            tokens.hasExpired(sent.token, at: now)
        else { return false }
        message.hasRenewed = true
        return true
    }

    private func closeLogin(_ answer: PushAnswer, _ message: Message, _ now: Moment) {
        gates[.login]?.bad(answer, "\(message.number)", now)
    }

    /// Whether a gate is closed: then the message waits there.
    private func isHeld(_ message: Message, _ place: Place) -> Bool {
        guard gates[place]?.isClosed == true else { return false }
        hold(message, place)
        return true
    }

    /// Whether refusals show that a topic is wrong, and not the messages.
    private func judgeTopic(_ answer: PushAnswer, _ message: Message, _ now: Moment) {
        let place = Place.topic(message.push.topic)
        guard !message.push.topic.isEmpty, gates[place] != nil || gates.count <= Self.mostTopics else { return }
        if gates[place] == nil { gates[place] = Gate(enough: 20, subjects: 20, isOnce: true, pauses: [12_000]) }
        // A device that has unregistered was registered here.
        if answer.scope == .accepted || answer.status == 410 {
            pass(place)
        } else if answer.concernsSetup {
            gates[place]?.bad(answer, answer.concernsDevice ? message.push.deviceToken : "\(message.number)", now)
        }
    }

    private func setBusy(_ message: Message, _ pause: UInt64, _ now: Moment) {
        waiting.setBusy(message.push.deviceToken, until: now.uptime + pause)
        retry(message, after: pause, now)
    }

    /// The pause before a message is sent again: from 1 s, doubled, of which a random part of up to a half is left out, so that many
    /// messages do not come back at once.
    private func pause(_ count: Int, _ least: UInt64? = nil, _ most: UInt64 = longestPause) -> UInt64 {
        let full = min(most, Self.shortestPause << UInt64(min(20, max(0, count - 1))))
        let part = UInt64(Double(full) * (1 - settings.random() / 2))
        return max(part, min(least ?? 0, Self.longestWait), Self.shortestPause / 2)
    }
}

// MARK: Requests without an answer

extension Dispatcher {
    /// Reports that a request ended without an answer.
    ///
    /// - Parameter wasRead: False if it was certainly not processed.
    func failed(_ sent: Sent, wasRead: Bool, on link: Int, at now: Moment) {
        let open = inFlight
        guard remove(sent, from: link) != nil else { return }
        if sent.messages[0] === question {
            question = nil
            return
        }
        if wasRead { window.lost(sentAt: sent.at, open, now) }
        for message in sent.messages {
            if wasRead {
                message.attempts += 1
                repeatUnknown(message, now)
                continue
            }
            message.unread += 1
            message.note(.unread)
            if message.unread <= Self.unreadAtOnce {
                again(message)
            } else {
                retry(message, after: pause(message.unread - Self.unreadAtOnce), now)
            }
        }
    }

    /// The message may have arrived.
    private func repeatUnknown(_ message: Message, _ now: Moment) {
        message.note(.unknown)
        guard message.mayRepeat else { return answer(message, .unrepeated) }
        retry(message, after: pause(message.attempts, nil, Self.longestPause / 2), now)
    }
}

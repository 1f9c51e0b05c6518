internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

// What a relay is asked, and what it answers.

extension RelaySender {
    /// Takes what has come, and sends what can go now.
    func act() {
        for result in client.proceed() { take(result) }
        send()
        for (delivery, outcome) in dispatcher.answers { lines.answer(delivery, outcome) }
        dispatcher.answers.removeAll(keepingCapacity: true)
    }

    private func send() {
        guard let key, !dispatcher.isEmpty, !lines.isStopped else { return }
        let now = now
        if isKnown == nil, now.uptime >= askedAt {
            isKnown = false
            askedAt = now.uptime + RelayClient.patience
            if !client.ask(Self.question) { isKnown = nil }
        }
        // Until the relay has said how many messages it takes, nothing goes out; a relay that is not there is asked again.
        guard isKnown == true else {
            return dispatcher.expire(at: now)
        }
        while let batch = dispatcher.nextBatch(isWhole: isInputIdle || lines.isIdle(takesInput: takesInput), at: now) {
            let request = RelayRequest(
                batch.messages.map(\.request.payload), to: settings.relay.origin, signedBy: key,
                at: dispatcher.time(at: now))
            lines.counts.requests += 1
            guard client.post(batch.number, request) else {
                dispatcher.ended(batch, .unread("libcurl refuses an option"), at: now)
                continue
            }
            batches[batch.number] = batch
        }
    }

    private func take(_ result: RelayClient.Result) {
        guard let batch = batches.removeValue(forKey: result.number) else { return learn(result) }
        let response: RelayResponse
        if let text = result.failure {
            response = result.wasSent ? .unknown : .unread(text)
        } else {
            response = RelayResponse(
                status: result.status, retryAfter: result.retryAfter, body: result.body,
                messages: batch.messages.count)
        }
        let now = now
        if let sent = batch.messages.first?.sentAt {
            lines.counts.latency.add((now.uptime - min(now.uptime, sent)) * 1_000_000)
        }
        count(response)
        lines.report("request", [("messages", .number(batch.messages.count)), ("status", .number(result.status))])
        dispatcher.ended(batch, response, at: now)
    }

    /// Takes what the relay says of itself.
    private func learn(_ result: RelayClient.Result) {
        guard result.failure == nil, let facts = RelayFacts(status: result.status, body: result.body) else {
            isKnown = nil
            dispatcher.cannotAsk(
                result.failure ?? "it answers with status \(result.status), and not as a relay of version 1", at: now)
            askedAt = dispatcher.pauseEnd
            return
        }
        guard facts.origin == settings.relay.origin.description else {
            lines.fail(
                .usage(
                    "the relay says that its origin is \(quoted(facts.origin)), and requests are signed for \(settings.relay.origin)",
                    hint: "if it is your publisher's, write --relay \(facts.origin)"))
            return halt()
        }
        dispatcher.mostMessages = facts.mostMessages
        dispatcher.canAsk()
        isKnown = true
    }

    private func count(_ response: RelayResponse) {
        switch response {
        case .answers(let answers):
            for answer in answers {
                switch answer {
                case .apns(let answer) where answer.verdict == .accepted: break
                case .apns(let answer): lines.counts.answers[answer.isRelays ? "relay" : answer.kind, default: 0] += 1
                case .unknown: lines.counts.answers["none", default: 0] += 1
                }
            }
        case .refused, .clock, .strange: lines.counts.answers["relay", default: 0] += 1
        case .unread: lines.counts.answers["unread", default: 0] += 1
        case .unknown: lines.counts.answers["none", default: 0] += 1
        }
    }
}

// MARK: For operators

extension RelaySender {
    var state: SendState {
        var state = lines.state
        state.isConnected = isKnown == true && dispatcher.trouble == nil
        state.inFlight = dispatcher.inFlight
        if let text = dispatcher.trouble {
            state.troubles = [Trouble(kind: .connection, text: text)]
            state.paused = [Trouble.Kind.connection.rawValue: 1]
        }
        state.deferred = dispatcher.deferred.count
        return state
    }
}

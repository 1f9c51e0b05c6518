// What a dispatcher does next.

extension Dispatcher {
    /// Returns the next action to take now; nil if there is none.
    func nextAction(at now: Moment) -> Action? {
        clock.check(at: now)
        sweep(at: now)
        takeDue(at: now)
        if let (delivery, link) = overdue.popLast() { return .cancel(delivery, on: link) }
        if let action = nextRequest(at: now) { return action }
        if let index = links.firstIndex(where: { $0.isDraining && $0.requests.isEmpty }) {
            let old = links.remove(at: index)
            judge(old, "it ended the connection", at: now)
            return .close(old.number)
        }
        guard mayConnect(at: now) else { return nil }
        linkCount += 1
        connectionsOpened += 1
        health.connects(at: now)
        links.append(Link(number: linkCount, isProven: !settings.usesToken, at: now))
        return .connect(linkCount)
    }

    /// The requests that are open on connections which answer.
    private func openRequests(at now: Moment) -> Int {
        links.reduce(0) { $0 + ($1.isStalled(at: now) ? 0 : $1.requests.count) }
    }

    /// The most requests on one connection.
    private func share(at now: Moment) -> Int {
        let canOpen = now.uptime >= health.nextConnection
        return congestion.share(
            of: canOpen ? settings.connections : max(1, links.count { $0.isConnected && !$0.isDraining }))
    }

    private func nextRequest(at now: Moment) -> Action? {
        let open = openRequests(at: now)
        let share = share(at: now)
        guard congestion.allows(open), health.allows(open, at: now),
            let index = links.firstIndex(where: {
                $0.isConnected && !$0.isDraining && !$0.isFull(share) && !$0.isStalled(at: now)
            }), rate.wait(at: now.uptime) == 0
        else { return nil }
        if let probe = nextClockProbe(at: now) { return send(probe, on: index, at: now) }
        guard clock.error == nil else { return nil }
        for place in breaker.due(at: now) {
            while let delivery = triesNewest ? held[place]?.popLast() : held[place]?.popFirst() {
                guard mayGo(delivery, at: now) else { continue }
                triesNewest.toggle()
                breaker.probes(place, with: delivery.number, at: now)
                return send(delivery, on: index, at: now)
            }
        }
        while let delivery = congestion.allowsRetry(openRetries)
            ? retries.popFirst() ?? ready.popFirst() : ready.popFirst()
        {
            guard mayGo(delivery, at: now) else { continue }
            if let place = breaker.place(of: delivery.request.topic) {
                hold(delivery, at: place)
            } else {
                return send(delivery, on: index, at: now)
            }
        }
        // A message may just have become doubtful.
        return nextClockProbe(at: now).map { send($0, on: index, at: now) }
    }

    private func send(_ delivery: Delivery, on index: Int, at now: Moment) -> Action {
        rate.take()
        requestsSent += 1
        delivery.sentAt = now.uptime
        delivery.isRepeated = delivery.attempts > 0
        if delivery.isRepeated { openRetries += 1 }
        delivery.tokenGeneration = settings.usesToken ? tokens.current(at: now) : 0
        if links[index].requests.isEmpty { links[index].heardAt = now.uptime }
        links[index].requests[delivery.number] = delivery
        return .send(delivery, on: links[index].number)
    }

    /// Whether a message can be sent now; otherwise it is answered, or waits elsewhere.
    private func mayGo(_ delivery: Delivery, at now: Moment) -> Bool {
        if hasEnded(delivery, at: now) {
            end(delivery, at: now)
        } else if delivery.hasExpired(at: now) {
            doubtful.append(delivery)
        } else if !busyTokens.isEmpty, let due = busyTokens[delivery.request.deviceToken], due > now.uptime {
            retry(delivery, after: due - now.uptime, at: now)
        } else {
            return true
        }
        return false
    }

    /// Keeps a message until APNs accepts its topic, or the login.
    func hold(_ delivery: Delivery, at place: CircuitBreaker.Place) {
        if isStopped { return giveUp(delivery) }
        delivery.hold = breaker.pauses[place]?.answer
        held[place, default: ReadyQueue()].append(delivery)
    }

    /// A question for APNs' time, if it is wanted now.
    private func nextClockProbe(at now: Moment) -> Delivery? {
        let isDue = clock.error == nil ? !doubtful.isEmpty && !clock.isTrusted && inFlight == 0 : unanswered > 0
        guard isDue, clockProbe == nil, now.uptime >= clock.nextProbe else { return nil }
        let next = doubtful.first ?? ready.first ?? retries.first
        let probe = Delivery(number: 0, request: .harmless(topic: next?.request.topic), end: .max)
        clockProbe = probe
        clock.probed(at: now)
        return probe
    }

    /// Whether another connection is needed: every one has all the streams that it may have, or is stuck.
    private func mayConnect(at now: Moment) -> Bool {
        guard !isStopped, now.uptime >= health.nextConnection else { return false }
        let usable = links.filter { !$0.isDraining }
        guard usable.count < settings.connections, congestion.allows(openRequests(at: now)) else { return false }
        let share = share(at: now)
        let areFull = usable.allSatisfy {
            $0.isStalled(at: now) || $0.isConnected && $0.capacity != nil && $0.isProven && $0.isFull(share)
        }
        guard areFull else { return false }
        return !ready.isEmpty || !retries.isEmpty || !doubtful.isEmpty
            || breaker.due(at: now).contains { held[$0]?.isEmpty == false }
    }

    /// Ends messages and requests whose time has ended.
    private func sweep(at now: Moment) {
        guard now.uptime >= nextSweep else { return }
        nextSweep = now.uptime + Self.sweepInterval
        for delivery in ready.remove(where: { hasEnded($0, at: now) }) { end(delivery, at: now) }
        for delivery in retries.remove(where: { hasEnded($0, at: now) }) { end(delivery, at: now) }
        for place in held.keys {
            for delivery in held[place]?.remove(where: { hasEnded($0, at: now) }) ?? [] { end(delivery, at: now) }
        }
        for delivery in doubtful.remove(where: { hasEnded($0, at: now) || !$0.hasExpired(at: now) }) {
            if hasEnded(delivery, at: now) { end(delivery, at: now) } else { again(delivery) }
        }
        if !busyTokens.isEmpty { busyTokens = busyTokens.filter { $0.value > now.uptime } }
        // A connection with a request that gets no answer may be stuck permanently: nothing new goes into it, and every other request
        // has its own time. One that allows no request is replaced.
        overdue = []
        for index in links.indices {
            links[index].blockedSince = links[index].isBlocked ? links[index].blockedSince ?? now.uptime : nil
            if let since = links[index].blockedSince, now.uptime >= since + settings.timeout {
                links[index].isDraining = true
            }
            // Others work meanwhile: then it is the connection, and not APNs.
            let isDead =
                links[index].isStalled(at: now) && health.hasWorked(since: links[index].heardAt + Link.patience)
            for delivery in links[index].requests.values
            where isDead || now.uptime >= delivery.sentAt + settings.timeout {
                overdue.append((delivery, links[index].number))
                links[index].isDraining = true
            }
        }
    }

    /// The uptime at which `nextAction` should be called again if nothing happens before; nil if nothing is left to do.
    func wakeTime(at now: Moment) -> UInt64? {
        var times: [UInt64] = []
        if let due = delayed.firstDue { times.append(due) }
        if !ready.isEmpty {
            let pause = rate.wait(at: now.uptime)
            if pause > 0 { times.append(now.uptime + pause) }
            if health.nextConnection > now.uptime { times.append(health.nextConnection) }
        }
        if unanswered > 0 || links.contains(where: { !$0.requests.isEmpty }) { times.append(nextSweep) }
        return times.min()
    }
}

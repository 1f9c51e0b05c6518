// What happened, as the caller reports it.

extension Dispatcher {
    /// Reports that a connection is made, and verified.
    func connected(_ link: Int) {
        if let index = index(of: link) { links[index].isConnected = true }
    }

    /// Reports that a connection cannot be made.
    func connectionFailed(_ link: Int, _ text: String, at now: Moment) {
        guard let index = index(of: link) else { return }
        health.failed(links.remove(at: index), text, at: now)
    }

    /// Reports how many streams APNs allows.
    func allowed(_ streams: Int, on link: Int) {
        if let index = index(of: link) { links[index].capacity = streams }
    }

    /// Reports that APNs ends a connection; requests that it has taken may still be answered.
    func goingAway(_ link: Int) {
        if let index = index(of: link) { links[index].isDraining = true }
    }

    /// Reports that a connection has ended; before, `failed` was called for each of its requests.
    func lost(_ link: Int, _ text: String, at now: Moment) {
        if let index = index(of: link) { judge(links.remove(at: index), text, at: now) }
    }

    /// Reports the answer to a message.
    func answered(_ delivery: Delivery, _ answer: APNsAnswer, on link: Int, at now: Moment) {
        let open = inFlight
        guard remove(delivery, from: link), let index = index(of: link) else { return }
        links[index].heardAt = now.uptime
        // Another connection may take what this one refuses because of another token.
        if answer.verdict != .tokenTooSoon || links[index].isUseful == nil { links[index].isUseful = answer.isUseful }
        if answer.isUseful { links[index].isProven = true }
        let wasWrong = clock.error != nil
        clock.heard(answer.time, at: now)
        // The provider token has the time of the wrong clock.
        if wasWrong, clock.error == nil { tokens.renew(at: now) }
        if delivery === clockProbe {
            clockProbe = nil
            return
        }
        delivery.attempts += 1
        breaker.ended(delivery.number)
        if answer.isUseful {
            health.worked(at: now)
            if answer.verdict != .deviceBusy { congestion.decided(open) }
        }
        // The clock explains why the login is refused.
        if clock.error != nil, answer.concernsLogin {
            delivery.note(.answer(answer))
            return again(delivery)
        }
        take(answer, to: delivery, on: index, at: now)
    }

    private func take(_ answer: APNsAnswer, to delivery: Delivery, on index: Int, at now: Moment) {
        switch answer.verdict {
        case .accepted:
            release(breaker.add(answer, to: delivery, at: now))
            self.answer(delivery, .accepted(answer))
        case .refused:
            release(breaker.add(answer, to: delivery, at: now))
            self.answer(delivery, .refused(answer))
        case .expiredToken, .loginRefused:
            // A second new token within twenty minutes is refused by `hasExpired`.
            let isOld = answer.verdict == .expiredToken || tokens.isKept(delivery.tokenGeneration)
            if isOld, tokens.hasExpired(delivery.tokenGeneration, at: now) { return again(delivery) }
            delivery.note(.answer(answer))
            _ = breaker.add(answer, to: delivery, at: now)
            if let place = breaker.place(of: delivery.request.topic) {
                hold(delivery, at: place)
            } else {
                delivery.hold = answer
                retry(delivery, after: pause(of: delivery, nil, at: now), at: now)
            }
        case .tokenTooSoon:
            // The connection knows another token; every other one may take this message.
            links[index].isDraining = true
            delivery.note(.answer(answer))
            again(delivery)
        case .deviceBusy:
            congestion.refused()
            delivery.note(.answer(answer))
            let pause = settings.policy.pause(after: delivery.attempts, atLeast: answer.retryAfter)
            busyTokens[delivery.request.deviceToken] = now.uptime + pause
            retry(delivery, after: pause, at: now)
        case .strange where delivery.attempts >= Self.mostStrange:
            self.answer(delivery, delivery.setback == .unknown ? .unknown(answer) : .refused(answer))
        case .busy, .strange:
            congestion.refused()
            health.busy(delivery.request.deviceToken, answer.text, at: now)
            delivery.note(.answer(answer))
            retry(delivery, after: pause(of: delivery, answer.retryAfter, at: now), at: now)
        }
    }

    /// Reports that a request ended without an answer.
    ///
    /// - Parameter wasRead: False if APNs has certainly not processed the request.
    func failed(_ delivery: Delivery, wasRead: Bool, on link: Int, at now: Moment) {
        let open = inFlight
        guard remove(delivery, from: link) else { return }
        if delivery === clockProbe {
            clockProbe = nil
            return
        }
        breaker.ended(delivery.number)
        if wasRead {
            delivery.attempts += 1
            delivery.note(.unknown)
            congestion.lost(sentAt: delivery.sentAt, open, at: now)
            guard delivery.mayRepeat else { return answer(delivery, .unrepeated) }
            retry(delivery, after: pause(of: delivery, nil, at: now), at: now)
        } else {
            delivery.unread += 1
            delivery.note(.unread)
            if delivery.unread <= Self.unreadAtOnce {
                again(delivery)
            } else {
                retry(delivery, after: settings.policy.pause(after: delivery.unread - Self.unreadAtOnce), at: now)
            }
        }
    }

    private func index(of link: Int) -> Int? { links.firstIndex { $0.number == link } }

    private func remove(_ delivery: Delivery, from link: Int) -> Bool {
        guard let index = index(of: link), links[index].requests.removeValue(forKey: delivery.number) != nil else {
            return false
        }
        if delivery.isRepeated { openRetries -= 1 }
        return true
    }

    /// The pause before a message is sent again. It stays short while nothing is accepted: the outage may end at any time.
    private func pause(of delivery: Delivery, _ minimum: UInt64?, at now: Moment) -> UInt64 {
        let since = delivery.failedAt ?? now.uptime
        delivery.failedAt = since
        let pause = settings.policy.pause(after: delivery.attempts)
        let own = health.hasWorked(since: since) ? pause : min(pause, RouteHealth.longestProbe)
        return max(own, min(minimum ?? 0, RetryPolicy.longest))
    }

    /// Decides whether a connection that has ended counts as failed.
    func judge(_ link: Link, _ text: String, at now: Moment) {
        if link.isUseful == true { return health.ended() }
        health.failed(link, link.capacity == 0 ? nil : text, at: now)
    }

    /// Sends what waited for a topic, or for the login.
    private func release(_ places: [CircuitBreaker.Place]) {
        for place in places {
            for delivery in held.removeValue(forKey: place)?.all ?? [] {
                delivery.hold = nil
                if delivery.attempts > 0 { retries.append(delivery) } else { ready.append(delivery) }
            }
        }
    }
}

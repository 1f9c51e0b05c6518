package import Pushcrypt
package import PushcryptKeyStore

/// A push that does not open, or is not sealed and passes as it came.
package struct Unopened: Error {
    /// The fallback, or the push.
    package let delivery: Delivery
    /// The state of the device key that the push was sealed to.
    package let keyState: JournalEntry.KeyState
}

/// A push that has opened. Nothing is changed yet: a copy of the message counts as new until it is handed over.
package struct OpenedPush: Sendable {
    package let notification: OpenedNotification
    /// The account whose device key opened it.
    package let account: String
    /// The state of that key.
    package let keyState: JournalEntry.KeyState
    let message: ReplayMessage
    let receiver: NotificationReceiver
    let push: IncomingPush
    let isAlert: Bool
    let topic: Topic
    /// As it was when the push came.
    let state: DeviceState

    /// Problems that do not stop the delivery, one sentence each; for the developer.
    package var warnings: [String] {
        guard notification.hasCertificateConflict else { return [] }
        return [
            "certificate-conflict: the message brought a certificate that contradicts an accepted one; the provider key may be stolen"
        ]
    }

    /// The mark of what shows the message, and its account.
    package var mark: NotificationMark {
        NotificationMark(message: message.mark, account: account, expiresAt: notification.expiresAt)
    }

    /// The content to show, if no other process hands the message over first; without a claim, as for a new message.
    package func delivery(after claim: ReplayClaim? = nil) -> Delivery {
        shown(claim, rings: claim.map { !$0.isQuiet } ?? true, isWithdrawn: claim?.verdict == .withdrawn)
    }

    /// Takes the message, for a caller that works on it before handing it over: before its files are fetched.
    package func take(at now: Timestamp) -> ReplayClaim { receiver.replay.take(message, at: now) }

    /// Why the message cannot be shown any more, if its key is gone since it was opened: its account has logged out.
    package func lost(at now: Timestamp) -> Delivery.Reason? {
        let key = notification.openedWith.id
        guard receiver.hasLost(key, at: now) else { return nil }
        return Delivery.Reason(.unknownRecipientKey(key))
    }

    /// Stores what the message changes in keys and trust. Usually that is nothing, and nothing is written. Returns a problem
    /// for the developer.
    package func settle(at now: Timestamp) -> String? {
        var after = state
        after.settle(notification, topic: topic, at: now)
        guard after != state else { return nil }
        do throws(KeyStoreError) {
            try receiver.store.change { $0.settle(notification, topic: topic, at: now) }
            return nil
        } catch {
            return "the key store was not updated: \(error)"
        }
    }

    // MARK: Handing over

    /// The result of handing over.
    package struct Handover {
        /// The delivery to show.
        package let delivery: Delivery
        /// Whether that is what was prepared: nobody was faster, and the message was not withdrawn.
        package let isAsPrepared: Bool
        package let claim: ReplayClaim
        /// Problems that do not stop the delivery, one sentence each; for the developer.
        package let problems: [String]
    }

    /// Hands the message over, just before its content is given out, in one transaction: with what it can be answered with,
    /// and a row of the journal.
    ///
    /// - Parameters:
    ///   - claim: That of taking it; nil to take it, too.
    ///   - now: The present time.
    ///   - journal: Returns the row, by what is shown, and whether that was prepared.
    package func handOver(
        after claim: ReplayClaim?, at now: Timestamp, journal: (Delivery, Bool) -> JournalEntry? = { _, _ in nil }
    ) -> Handover {
        var problems: [String] = []
        let answer = sealedAnswer(&problems)
        let (isQuiet, wasWithdrawn) = (claim?.isQuiet ?? false, claim?.verdict == .withdrawn)
        func outcome(_ claim: ReplayClaim, _ handover: ReplayHandover) -> (delivery: Delivery, isAsPrepared: Bool) {
            let isAsPrepared = handover.isWithdrawn ? wasWithdrawn : handover.rings || isQuiet
            return (shown(claim, rings: handover.rings, isWithdrawn: handover.isWithdrawn), isAsPrepared)
        }
        func rows(_ claim: ReplayClaim, _ handover: ReplayHandover) -> HandoverRows {
            let (delivery, isAsPrepared) = outcome(claim, handover)
            let isShown = delivery.opened != nil && !delivery.isHidden
            return HandoverRows(journal: journal(delivery, isAsPrepared), answer: isShown ? answer : nil)
        }
        let (taken, handover) = receiver.replay.handOver(message, after: claim, at: now, rows)
        if claim == nil { problems += taken.problems }
        if let problem = handover.problem {
            if problem != taken.problem { problems.append("replay guard: \(problem)") }
            if answer != nil { problems.append("the message cannot be answered: \(problem)") }
        }
        let (delivery, isAsPrepared) = outcome(taken, handover)
        return Handover(delivery: delivery, isAsPrepared: isAsPrepared, claim: taken, problems: problems)
    }

    /// The delivery to show if the guard does not respond in time; nil for the prepared one.
    package func unanswered(after claim: ReplayClaim?) -> Delivery? {
        guard let claim, claim.verdict != .new else { return nil }
        return shown(claim, rings: false, isWithdrawn: claim.verdict == .withdrawn)
    }

    private func shown(_ claim: ReplayClaim?, rings: Bool, isWithdrawn: Bool) -> Delivery {
        var delivery = receiver.delivery(
            of: notification, isDuplicate: claim?.isDuplicate ?? false, rings: rings, isWithdrawn: isWithdrawn, push)
        delivery.account = account
        return delivery
    }

    private func sealedAnswer(_ problems: inout [String]) -> AnswerKeys.Sealed? {
        guard isAlert, let key = notification.answerKey else { return nil }
        do throws(KeyStoreError) {
            return try AnswerKeys.Sealed(key, of: message, openedWith: notification.openedWith)
        } catch {
            problems.append("the message cannot be answered: \(error)")
            return nil
        }
    }
}

extension ReplayClaim {
    /// Problems that do not stop the delivery, one sentence each; for the developer.
    package var problems: [String] {
        var problems: [String] = []
        if wasDamaged {
            problems.append(
                "replay guard: was damaged and has been recreated; messages sent more than ten minutes ago count as shown"
            )
        }
        if let problem { problems.append("replay guard: \(problem)") }
        return problems
    }
}

package import Pushcrypt

/// What the caller knows about the clock that the time of a change comes from.
public enum ClockAssurance: Hashable, Sendable {
    /// Nothing: a change more than 29 days after the store's last one is refused.
    case unknown
    /// The system keeps the clock synchronised: a change more than 400 days after the last one is refused.
    case synchronised
    /// A person has checked the clock: nothing is refused.
    case confirmed
}

/// The clock of one change or message, judged by the newest time of the store's own changes.
///
/// A clock that is wrong for a moment must not end a key, nor number an epoch into the future of the phones, nor date messages that
/// they refuse.
package struct StoreClock {
    /// The name of the setting with the newest time.
    static let setting = "clock.last"
    /// The maximum difference between two clocks that are both treated as right.
    private static let tolerance = Freshness.clockTolerance
    /// The longest gap without assurance.
    private static let gapOfUnknown = Interval.days(29)
    private static let gapOfSynchronised = Interval.days(400)

    /// The time that the clock shows.
    let now: Timestamp
    private let assurance: ClockAssurance
    /// The newest time of the store's own changes; nil if there is none.
    let last: Timestamp?

    /// Creates the clock that shows `now`; `last` is the store's `lastChange()`.
    package init(_ now: Timestamp, _ assurance: ClockAssurance, last: Timestamp?) {
        self.now = now
        self.assurance = assurance
        self.last = last
    }

    /// Returns the latest time that a key may be ended by: `now`, or a day after the last
    /// change if that is earlier.
    ///
    /// - Throws: `implausibleClock`.
    @discardableResult
    package func time() throws(KeyStoreError) -> Timestamp {
        guard let last, assurance != .confirmed else { return now }
        guard now.adding(Self.tolerance) >= last else {
            throw KeyStoreError(
                .implausibleClock,
                "the clock shows \(now), but this store was last changed at \(last): set the clock; nothing was changed"
            )
        }
        let isLong = last.adding(Self.gapOfUnknown) < now
        if isLong, assurance == .unknown || last.adding(Self.gapOfSynchronised) < now {
            let days = now.milliseconds(since: last) / 86_400_000
            throw KeyStoreError(
                .implausibleClock,
                "the clock shows \(now), \(days) days after this store was last changed, and may be wrong: check it; nothing was changed"
            )
        }
        return isLong ? now : boundedNow(last)
    }

    /// Returns the time that numbers an epoch: unless something says that the clock is right, one that is ahead for a moment
    /// must not use up the numbers of weeks.
    ///
    /// - Throws: `implausibleClock`.
    func epochTime() throws(KeyStoreError) -> Timestamp {
        let time = try time()
        return assurance == .unknown ? time : now
    }

    /// Returns the newest time of the store's own changes after a call, which may have changed nothing.
    func newest(isChanged: Bool) -> Timestamp {
        guard let last, assurance != .confirmed else { return now }
        guard isChanged, let time = try? time() else { return max(last, boundedNow(last)) }
        return max(last, time)
    }

    /// Whether a time is at most a day after the last change.
    static func isNear(_ now: Timestamp, _ last: Timestamp) -> Bool { now <= last.adding(tolerance) }

    /// Returns whether a key made then has reached an age. One that a plausible clock has in its future was made while the
    /// clock was ahead, and would stay young until then.
    func hasReached(_ age: Interval, since creation: Timestamp) -> Bool {
        let isPlausible = (try? time()) != nil
        return now >= (isPlausible ? creation.plausible(at: now) : creation).adding(age)
    }

    private func boundedNow(_ last: Timestamp) -> Timestamp { min(now, last.adding(Self.tolerance)) }
}

extension SQLiteKeyStore {
    /// Changes the store whatever the clock shows, and notes the time to the minute if it is near the last one: many such
    /// changes by a clock that is ahead must not add up.
    func write<R>(
        at now: Timestamp, _ body: (StoreTransaction) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        try write { (store) throws(KeyStoreError) in
            let result = try body(store)
            // A damaged setting must not stop a push or a registration.
            if let last = try? store.lastChange(), StoreClock.isNear(now, last),
                now.milliseconds(since: last) >= 60_000
            {
                try store.note(now)
            }
            return result
        }
    }

    /// Changes the store if the clock is plausible, and notes the time; if `body` changes nothing, any clock will do.
    ///
    /// - Throws: `implausibleClock`; nothing has changed then.
    func write<R>(
        at now: Timestamp, _ assurance: ClockAssurance,
        _ body: (StoreTransaction, StoreClock) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        try write { (store) throws(KeyStoreError) in
            let clock = StoreClock(now, assurance, last: try store.lastChange())
            let before = store.connection.totalChanges
            let result = try body(store, clock)
            let isChanged = store.connection.totalChanges != before
            if isChanged { _ = try clock.time() }
            let newest = clock.newest(isChanged: isChanged)
            if newest != clock.last { try store.note(newest) }
            return result
        }
    }

    /// Returns the newest time of this store's own changes; nil if it was never changed.
    ///
    /// Times in records from elsewhere do not count.
    package func lastChange() throws(KeyStoreError) -> Timestamp? {
        try read { (store) throws(KeyStoreError) in try store.lastChange() }
    }
}

extension StoreTransaction {
    fileprivate func lastChange() throws(KeyStoreError) -> Timestamp? {
        if let text = try setting(named: StoreClock.setting) {
            guard let milliseconds = UInt64(text) else {
                throw .damagedRow(.text(StoreClock.setting), in: SettingRow.table.name)
            }
            return Timestamp(milliseconds: milliseconds)
        }
        let header: StoreHeader? = try row(key: .integer(StoreHeader.id))
        // A store in memory has no time of creation.
        return header.flatMap { $0.createdAt.milliseconds == 0 ? nil : $0.createdAt }
    }

    fileprivate func note(_ time: Timestamp) throws(KeyStoreError) {
        try setSetting("\(time.milliseconds)", named: StoreClock.setting)
    }
}

package import Pushcrypt

/// A replay guard's finding about a message that has passed every other step. (`Docs/Format.md`, Replay)
public enum ReplayVerdict: Hashable, Sendable {
    /// Not seen before.
    case new
    /// Seen under the same notification request.
    case again
    /// Seen under another request.
    case copy
    /// Too old to tell: counts as seen.
    case seen
    /// Withdrawn by its provider: never shown.
    case withdrawn
}

/// The result of taking a message.
package struct ReplayClaim: Hashable, Sendable {
    package let verdict: ReplayVerdict
    /// Whether the message was handed over before, or counts as seen: it does not ring.
    package let isQuiet: Bool
    /// The withdrawn messages, some of which may be on the screen.
    package let withdrawn: Set<MessageMark>
    /// Why the guard could not be written; nil if the message is remembered. For the developer: it never stops a
    /// delivery.
    package let problem: KeyStoreError?
    /// Whether the guard was damaged and has been recreated, and knows nothing of earlier messages: those sent more
    /// than ten minutes ago count as seen. Reported once, by the next result; not reported for a missing guard, as
    /// at a phone's first push.
    package internal(set) var wasDamaged = false

    init(_ finding: ReplayRules.Finding, withdrawn: Set<MessageMark> = [], problem: KeyStoreError? = nil) {
        verdict = finding.verdict
        isQuiet = finding.isQuiet
        self.withdrawn = withdrawn
        self.problem = problem
    }

    /// Whether the files of the message may be fetched: only before it was handed over, and only for the request under
    /// which it was first seen. Otherwise a relay, which may send a message again, could make a phone fetch at will.
    package var mayFetch: Bool { !isQuiet && (verdict == .new || verdict == .again) }

    /// Whether the message has rung under the same request: its files may still be there.
    package var isRepeated: Bool { verdict == .again && isQuiet }

    /// Whether the message came before under another notification request, or is too old to tell.
    package var isDuplicate: Bool { verdict == .copy || verdict == .seen }
}

/// The result of handing a message over.
package struct ReplayHandover: Hashable, Sendable {
    /// Whether the message rings: is shown as it was sealed. It does so once, when first handed over.
    package let rings: Bool
    /// Whether the message was withdrawn meanwhile, and is not shown.
    package let isWithdrawn: Bool
    /// Why the guard could not be written, if it could not. For the developer.
    package let problem: KeyStoreError?

    init(_ handover: ReplayRules.Handover, problem: KeyStoreError?) {
        rings = handover == .rings
        isWithdrawn = handover == .withdrawn
        self.problem = problem
    }
}

/// Further rows of the transaction that hands a message over.
package struct HandoverRows: Sendable {
    /// The row of the journal.
    package var journal: JournalEntry?
    /// The key for answering the message.
    package var answer: AnswerKeys.Sealed?

    package init(journal: JournalEntry? = nil, answer: AnswerKeys.Sealed? = nil) {
        (self.journal, self.answer) = (journal, answer)
    }

    fileprivate func write(to connection: SQLiteConnection, at now: Timestamp) throws(KeyStoreError) {
        if let answer { try answer.write(to: connection, at: now) }
        if let journal { try Journal.append(journal, to: connection) }
    }
}

/// Remembers the messages that were shown. (`Docs/Format.md`, Replay)
package struct ReplayGuard: Sendable {
    let database: ExtensionDatabase

    /// Takes a message, withdraws what it withdraws, and remembers it until two days after it expires, because clocks
    /// jump. Call this after every other step, before files of the message are fetched.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - now: The receiver's time.
    package func take(_ message: ReplayMessage, at now: Timestamp) -> ReplayClaim {
        use { file in
            var claim: ReplayClaim
            do throws(KeyStoreError) {
                claim = try write(file, at: now) { (storage) throws(KeyStoreError) in
                    try take(message, storage, at: now)
                }
            } catch {
                claim = readable(message, file, error, at: now)
            }
            claim.wasDamaged = file.takeDamaged()
            return claim
        }
    }

    /// Returns the withdrawn messages, some of which may be on the screen; none if the file cannot be read.
    package func withdrawn() -> Set<MessageMark> {
        let found = try? database.read { (connection) throws(KeyStoreError) in
            try ReplayTables(connection: connection).withdrawn()
        }
        return (found ?? nil) ?? []
    }

    /// Hands a message over: call this just before its content is given out, also when a deadline ends the work.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - claim: That of taking it; nil to take it in the same transaction, for a caller that gives out the content at once.
    ///   - now: The receiver's time.
    ///   - rows: Returns what else is written, by how the message is shown.
    package func handOver(
        _ message: ReplayMessage, after claim: ReplayClaim?, at now: Timestamp,
        _ rows: (ReplayClaim, ReplayHandover) -> HandoverRows = { _, _ in HandoverRows() }
    ) -> (claim: ReplayClaim, handover: ReplayHandover) {
        use { file in
            var result: (claim: ReplayClaim, handover: ReplayHandover)
            do throws(KeyStoreError) {
                result = try write(file, at: now) { (storage) throws(KeyStoreError) in
                    let claim = if let claim { claim } else { try take(message, storage, at: now) }
                    let handover = ReplayHandover(
                        try ReplayRules.handOver(
                            message, claim.verdict, in: storage, room: database.maximumRows, at: now), problem: nil)
                    try rows(claim, handover).write(to: storage.connection, at: now)
                    return (claim, handover)
                }
            } catch {
                let row = try? read(file) { (storage) throws(KeyStoreError) in
                    try ReplayRules.row(of: message, in: storage)
                }
                let claim = claim ?? readable(message, file, error, at: now)
                let handover = ReplayHandover(ReplayRules.unwritten(claim.verdict, row: row ?? nil), problem: error)
                result = (claim, handover)
            }
            if claim == nil { result.claim.wasDamaged = file.takeDamaged() }
            return result
        }
    }

    /// Takes a message. What it withdraws can no longer be answered; nor can the messages that its notification has shown
    /// before.
    private func take(
        _ message: ReplayMessage, _ storage: ReplayTables, at now: Timestamp
    ) throws(KeyStoreError) -> ReplayClaim {
        let finding = try ReplayRules.take(message, in: storage, room: database.maximumRows, at: now)
        let withdrawn = try storage.withdrawn()
        let answers = AnswerTable(connection: storage.connection)
        try answers.prune(withdrawn, at: now)
        try answers.deleteOthers(than: message.mark, under: message.request)
        return ReplayClaim(finding, withdrawn: withdrawn)
    }

    // MARK: Transactions

    private func use<R>(_ body: (RecoverableDatabase) -> R) -> R { database.file.withLock { body($0) } }

    /// Returns what is found in a file that cannot be written, but may still be readable.
    private func readable(
        _ message: ReplayMessage, _ file: RecoverableDatabase, _ problem: KeyStoreError, at now: Timestamp
    ) -> ReplayClaim {
        let finding = try? read(file) { (storage) throws(KeyStoreError) in
            try ReplayRules.find(message, in: storage, at: now)
        }
        return ReplayClaim(finding ?? .unknown, problem: problem)
    }

    private func write<R>(
        _ file: RecoverableDatabase, at now: Timestamp, _ body: (ReplayTables) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        try file.write(at: now) { (connection) throws(KeyStoreError) in
            try body(ReplayTables(connection: connection))
        }
    }

    private func read<R>(
        _ file: RecoverableDatabase, _ body: (ReplayTables) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R? {
        try file.readOpen { (connection) throws(KeyStoreError) in try body(ReplayTables(connection: connection)) }
    }
}

extension ExtensionDatabase {
    /// Checks the database in a store's directory. Changes nothing; finds nothing if there is no file.
    package static func check(in directory: String, at now: Timestamp) -> [Finding] {
        let outcome = "the next message recreates it, and messages sent more than ten minutes earlier count as shown"
        let file = RecoverableDatabase(in: directory, busyTimeout: busyTimeout)
        do throws(KeyStoreError) {
            guard let isSound = try file.isSound() else { return [] }
            guard isSound else { return [Finding(.warning, "the extension's database is damaged", fix: outcome)] }
            let floor = try file.read { (connection) throws(KeyStoreError) in
                try ReplayTables(connection: connection).guardFloor()
            }
            if let floor, ReplayRules.isAhead(floor, at: now) {
                return [
                    Finding(
                        .warning,
                        "the replay guard was made while the clock was ahead: a copy of an earlier message may ring again"
                    )
                ]
            }
            return [Finding(.note, "the extension's database is sound")]
        } catch {
            return [
                Finding(.warning, "the extension's database: \(error)", fix: error.code == .corruptStore ? outcome : "")
            ]
        }
    }
}

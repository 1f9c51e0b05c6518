public import Pushcrypt

/// What a replay guard finds about a message that has passed every other step. (`Docs/Format.md`, Replay)
public enum ReplayVerdict: Hashable, Sendable {
    /// Not seen before.
    case new
    /// Seen under the same notification request.
    case again
    /// Seen under another request.
    case copy
    /// Too old to tell: counts as seen.
    case seen
    /// Withdrawn by its sender: never shown.
    case withdrawn
}

/// The result of taking a message.
package struct ReplayClaim: Hashable, Sendable {
    /// What the guard found.
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
    package let wasDamaged: Bool

    init(
        _ finding: ReplayRules.Finding, withdrawn: Set<MessageMark> = [], problem: KeyStoreError?,
        wasDamaged: Bool = false
    ) {
        verdict = finding.verdict
        isQuiet = finding.isQuiet
        self.withdrawn = withdrawn
        self.problem = problem
        self.wasDamaged = wasDamaged
    }

    /// Whether the files of the message may be fetched: only before it was handed over, and only for the request under
    /// which it was first seen. Otherwise a relay, which may send a message again, could make a phone fetch at will.
    package var mayFetch: Bool { !isQuiet && (verdict == .new || verdict == .again) }

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

/// Remembers the messages that were shown: the file `replay.db` in a store's directory.
///
/// Any number of threads and processes may use one file, and be killed at any moment. It holds no secret, and an
/// extension needs no key to use it. It does not protect against someone who can write the file. (`Docs/Format.md`,
/// Replay)
public final class ReplayFile: Sendable {
    private let session: Locked<ReplaySession>
    /// Ends, from any thread, a call that is being made, so that no lock is held while the process is suspended. Nothing of
    /// it is then remembered, and the call reports the problem.
    package let interruption: SQLiteInterruption

    /// Creates the file, when a device is enrolled; messages sent at or before `floor` never count as new.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeExists`, `unsafeStoreFile`, `storeBusy`,
    ///   `diskFull`, `inputOutput`.
    public static func create(in directory: String, floor: Timestamp) throws(KeyStoreError) -> ReplayFile {
        let session = ReplaySession(in: directory, busyTimeout: busyTimeout)
        try session.create(floor: floor)
        return ReplayFile(session)
    }

    /// Opens the file; recreates a missing or damaged one with a floor ten minutes before `now`.
    ///
    /// Never fails: if the file cannot be used, each call says why.
    public static func open(in directory: String, at now: Timestamp) -> ReplayFile {
        open(in: directory, at: now, interruption: .init())
    }

    /// - Parameter interruption: Also ends the opening, which may recreate the file.
    package static func open(
        in directory: String, at now: Timestamp, busyTimeout: Int32 = busyTimeout,
        maximumRows: Int = ReplayRules.maximumRows, interruption: SQLiteInterruption = .init()
    ) -> ReplayFile {
        let session = ReplaySession(
            in: directory, busyTimeout: busyTimeout, maximumRows: maximumRows, interruption: interruption)
        session.prepare(at: now)
        return ReplayFile(session)
    }

    private init(_ session: ReplaySession) {
        interruption = session.interruption
        self.session = Locked(session)
    }

    /// Checks the file in a store's directory. Changes nothing; finds nothing if there is no file.
    public static func check(in directory: String, at now: Timestamp) -> [Finding] {
        ReplaySession(in: directory, busyTimeout: busyTimeout).check(at: now)
    }

    /// Takes a message, withdraws what it withdraws, and remembers it until two days after it expires, because clocks jump. Call this after every
    /// other step, before files of the message are fetched.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - now: The receiver's time.
    package func take(_ message: ReplayMessage, at now: Timestamp) -> ReplayClaim {
        session.withLock { $0.take(message, at: now) }
    }

    /// Returns the withdrawn messages, some of which may be on the screen; none if the file cannot be read.
    package func withdrawn() -> Set<MessageMark> { session.withLock { $0.withdrawn() } }

    /// Hands a message over: call this just before its content is given out, also when a deadline ends the work.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - verdict: That of taking it.
    ///   - now: The receiver's time.
    package func handOver(_ message: ReplayMessage, after verdict: ReplayVerdict, at now: Timestamp) -> ReplayHandover {
        session.withLock { $0.handOver(message, after: verdict, at: now) }
    }

    /// Takes a message and hands it over in one transaction, for a caller that gives out the content at once.
    package func claimAndCommit(
        _ message: ReplayMessage, at now: Timestamp
    ) -> (taking: ReplayClaim, handover: ReplayHandover) {
        session.withLock { $0.claimAndCommit(message, at: now) }
    }

    /// How long a call waits for other processes, in milliseconds: a notification extension has 30 seconds for all
    /// its work.
    package static let busyTimeout: Int32 = 2000
}

/// A connection to `replay.db`.
final class ReplaySession {
    let interruption: SQLiteInterruption
    private let file: RecoverableDatabase
    private let maximumRows: Int

    init(
        in path: String, busyTimeout: Int32, maximumRows: Int = ReplayRules.maximumRows,
        interruption: SQLiteInterruption = .init()
    ) {
        (self.maximumRows, self.interruption) = (maximumRows, interruption)
        file = RecoverableDatabase(
            ReplayTables.kind, in: path, busyTimeout: busyTimeout, interruption: interruption)
    }

    func take(_ message: ReplayMessage, at now: Timestamp) -> ReplayClaim {
        do throws(KeyStoreError) {
            let (finding, withdrawn) = try write(at: now) { (storage) throws(KeyStoreError) in
                let finding = try ReplayRules.take(message, in: &storage, room: maximumRows, at: now)
                return (finding, try storage.withdrawn())
            }
            return ReplayClaim(finding, withdrawn: withdrawn, problem: nil, wasDamaged: file.takeDamaged())
        } catch {
            return ReplayClaim(readable(message, at: now), problem: error, wasDamaged: file.takeDamaged())
        }
    }

    func handOver(_ message: ReplayMessage, after verdict: ReplayVerdict, at now: Timestamp) -> ReplayHandover {
        do throws(KeyStoreError) {
            let handover = try write(at: now) { (storage) throws(KeyStoreError) in
                try ReplayRules.handOver(message, verdict, in: &storage, room: maximumRows, at: now)
            }
            return ReplayHandover(handover, problem: nil)
        } catch {
            let row = try? read { (storage) throws(KeyStoreError) in try storage.row(of: message) }
            return ReplayHandover(ReplayRules.unwritten(verdict, row: row ?? nil), problem: error)
        }
    }

    func claimAndCommit(
        _ message: ReplayMessage, at now: Timestamp
    ) -> (taking: ReplayClaim, handover: ReplayHandover) {
        do throws(KeyStoreError) {
            let (finding, handover, withdrawn) = try write(at: now) { (storage) throws(KeyStoreError) in
                let finding = try ReplayRules.take(message, in: &storage, room: maximumRows, at: now)
                let handover = try ReplayRules.handOver(
                    message, finding.verdict, in: &storage, room: maximumRows, at: now)
                return (finding, handover, try storage.withdrawn())
            }
            return (
                ReplayClaim(finding, withdrawn: withdrawn, problem: nil, wasDamaged: file.takeDamaged()),
                ReplayHandover(handover, problem: nil)
            )
        } catch {
            let finding = readable(message, at: now)
            return (
                ReplayClaim(finding, problem: error, wasDamaged: file.takeDamaged()),
                ReplayHandover(ReplayRules.unwritten(finding.verdict, row: nil), problem: error)
            )
        }
    }

    func withdrawn() -> Set<MessageMark> {
        let found = try? file.read { (connection) throws(KeyStoreError) in
            try ReplayTables(connection: connection).withdrawn()
        }
        return (found ?? nil) ?? []
    }

    /// Returns what is found in a file that cannot be written, but may still be readable.
    private func readable(_ message: ReplayMessage, at now: Timestamp) -> ReplayRules.Finding {
        let finding = try? read { (storage) throws(KeyStoreError) in
            try ReplayRules.find(message, in: storage, at: now)
        }
        return finding ?? .unknown
    }

    private func write<R>(
        at now: Timestamp, _ body: (inout ReplayTables) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        try file.write(filling: Self.recreated(at: now)) { (connection) throws(KeyStoreError) in
            var storage = ReplayTables(connection: connection)
            return try body(&storage)
        }
    }

    private func read<R>(_ body: (ReplayTables) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        try file.readOpen { (connection) throws(KeyStoreError) in try body(ReplayTables(connection: connection)) }
    }

    // MARK: The file

    func check(at now: Timestamp) -> [Finding] {
        let outcome = "the next message recreates it, and messages sent more than ten minutes earlier count as shown"
        do throws(KeyStoreError) {
            guard let isSound = try file.isSound() else { return [] }
            guard isSound else { return [Finding(.warning, "the replay guard is damaged", fix: outcome)] }
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
            return [Finding(.note, "the replay guard is sound")]
        } catch {
            return [Finding(.warning, "the replay guard: \(error)", fix: error.code == .corruptStore ? outcome : "")]
        }
    }

    /// Connects if possible; otherwise a judgement tries again and reports the problem.
    func prepare(at now: Timestamp) { file.prepare(filling: Self.recreated(at: now)) }

    func create(floor: Timestamp) throws(KeyStoreError) {
        try file.create { (connection) throws(KeyStoreError) in try ReplayTables.fill(connection, floor: floor) }
    }

    func recreate(replacing damaged: FileIdentity?, at now: Timestamp) throws(KeyStoreError) {
        try file.recreate(replacing: damaged, filling: Self.recreated(at: now))
    }

    private static func recreated(at now: Timestamp) -> RecoverableDatabase.Filling {
        { (connection) throws(KeyStoreError) in
            let floor = now.subtracting(milliseconds: ReplayRules.recreatedFloorAge)
            try ReplayTables.fill(connection, floor: floor)
        }
    }
}

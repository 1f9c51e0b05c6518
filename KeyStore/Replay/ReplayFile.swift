public import Pushcrypt

/// What the replay check says of a message that has passed every other step. (`Docs/Format.md`, Replay)
public enum ReplayVerdict: Hashable, Sendable {
    /// Not seen before: it is shown as it was sealed.
    case new
    /// Seen under the same notification request: the same content again, passively and without its sound from 60 seconds
    /// after the first.
    case sameRequest(soundAllowed: Bool)
    /// Seen under another request, or too old to tell: shown without sound and without lighting the screen, or, under a
    /// strict policy, not at all.
    case duplicate
}

/// What a guard says, and what kept it from remembering.
public struct ReplayJudgement: Hashable, Sendable {
    /// What to do with the message.
    public let verdict: ReplayVerdict
    /// Why the guard could not be written; nil when the message is remembered. For the developer: a delivery never fails
    /// for this.
    public let problem: KeyStoreError?
    /// Whether the guard was damaged and had to be made anew, and knows nothing of what was shown before: what was sent more
    /// than ten minutes ago counts as seen. Said once, by the first judgement after it. Not said of one that was missing,
    /// as it is at a phone's first push.
    public let wasDamaged: Bool

    init(verdict: ReplayVerdict, problem: KeyStoreError?, wasDamaged: Bool = false) {
        self.verdict = verdict
        self.problem = problem
        self.wasDamaged = wasDamaged
    }
}

/// Remembers the messages that were shown: the file `replay.db` in a store's directory.
///
/// Any number of threads and processes may use one file, and be killed at any moment. It holds no secret, and an
/// extension needs no key to use it. It does not protect against somebody who may write the file.
/// (`Docs/Format.md`, Replay)
public final class ReplayFile: Sendable {
    private let session: Locked<ReplaySession>

    /// Makes the file, when a device is enrolled; nothing sent at `floor` or before it is new.
    ///
    /// - Throws: `storeMissing` when the directory is not there, `storeExists`, `unsafeStoreFile`, `storeBusy`,
    ///   `diskFull`, `inputOutput`.
    public static func create(in directory: String, floor: Timestamp) throws(KeyStoreError) -> ReplayFile {
        let session = ReplaySession(in: directory, busyTimeout: busyTimeout)
        try session.create(floor: floor)
        return ReplayFile(session)
    }

    /// Opens the file. One that is missing or damaged is made anew, with a floor ten minutes before `now`.
    ///
    /// Never fails: what keeps the file from being used is in each judgement.
    public static func open(in directory: String, at now: Timestamp) -> ReplayFile {
        open(in: directory, at: now, busyTimeout: busyTimeout)
    }

    package static func open(in directory: String, at now: Timestamp, busyTimeout: Int32) -> ReplayFile {
        let session = ReplaySession(in: directory, busyTimeout: busyTimeout)
        session.prepare(at: now)
        return ReplayFile(session)
    }

    private init(_ session: ReplaySession) { self.session = Locked(session) }

    /// Says whether a message was seen, and remembers it until two days after it expires, because clocks jump; call it
    /// after every other step, before the content is shown.
    ///
    /// - Parameters:
    ///   - sender: the key that signed the message.
    ///   - messageID: the message's id, the same in all its copies.
    ///   - requestID: the id of the notification request; a caller without one passes the message id's description.
    ///   - sentAt: when the message was sealed.
    ///   - expiresAt: when it ends.
    ///   - now: the receiver's clock.
    public func judge(
        sender: SenderPublicKey, messageID: MessageID, requestID: String, sentAt: Timestamp, expiresAt: Timestamp,
        at now: Timestamp
    ) -> ReplayJudgement {
        let message = ReplayMessage(
            sender: sender, id: messageID, requestID: requestID, sentAt: sentAt, expiresAt: expiresAt)
        return session.withLock { $0.judge(message, at: now) }
    }

    /// How long a judgement waits for other processes, in milliseconds: a notification extension has 30 seconds for all
    /// its work.
    static let busyTimeout: Int32 = 2000
}

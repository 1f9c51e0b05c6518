public import Pushcrypt

/// The one database of an extension, `extension.db`: the messages that were shown, the journal, the responses that the app
/// has not handled yet, and what the user can answer with.
///
/// Each write is a separate transaction, on the disk when the call returns: one that fails stops no other. Any number of threads and
/// processes may use one file, and be killed at any moment. A missing or damaged file is recreated by the next write.
///
/// It holds no secret that is not sealed to a device key, and nothing that decides trust. Someone who can write the file
/// can make the guard forget or ignore messages.
public final class ExtensionDatabase: Sendable {
    /// The name of the file.
    static let fileName = RecoverableDatabase.name
    /// How long a call waits for other processes, in milliseconds: a notification extension has 30 seconds for all its
    /// work.
    package static let busyTimeout: Int32 = 2000

    let file: Locked<RecoverableDatabase>
    let maximumRows: Int
    /// Ends, from any thread, a call that is being made, so that no lock is held while the process is suspended.
    /// Nothing of it is then kept, and the call reports the problem.
    package let interruption: SQLiteInterruption

    /// Uses the file in this directory, which the app has created. Never fails: if the file cannot be used, each call
    /// says why.
    public convenience init(in directory: String) {
        self.init(in: directory, busyTimeout: Self.busyTimeout)
    }

    package convenience init(
        in directory: String, busyTimeout: Int32, maximumRows: Int = ReplayRules.maximumRows
    ) {
        self.init(RecoverableDatabase(in: directory, busyTimeout: busyTimeout), maximumRows: maximumRows)
    }

    private init(_ file: RecoverableDatabase, maximumRows: Int) {
        interruption = file.interruption
        self.file = Locked(file)
        self.maximumRows = maximumRows
    }

    /// Creates the file, when a device is enrolled; messages sent at or before `floor` never count as new.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeExists`, `storeBusy`,
    ///   `diskFull`, `inputOutput`.
    public static func create(in directory: String, floor: Timestamp) throws(KeyStoreError) -> ExtensionDatabase {
        let file = RecoverableDatabase(in: directory, busyTimeout: busyTimeout)
        try file.create(floor: floor)
        return ExtensionDatabase(file, maximumRows: ReplayRules.maximumRows)
    }

    /// Remembers the messages that were shown.
    package var replay: ReplayGuard { ReplayGuard(database: self) }

    /// The last deliveries, for debugging.
    public var journal: Journal { Journal(database: self) }

    /// The user's responses that the app could not handle yet.
    package var responses: Responses { Responses(database: self) }

    /// What the user can answer messages with.
    package var answerKeys: AnswerKeys { AnswerKeys(database: self) }

    // MARK: Transactions

    func write<R>(
        at now: Timestamp, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        try file.withLock { (file) throws(KeyStoreError) in try file.write(at: now, body) }
    }

    /// Reads; returns nil if there is no file, or a damaged one.
    func read<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        try file.withLock { (file) throws(KeyStoreError) in try file.readUndamaged(body) }
    }

    /// Changes what is there; nothing if there is no file, or a damaged one.
    func writeIfPresent(_ body: (SQLiteConnection) throws(KeyStoreError) -> Void) throws(KeyStoreError) {
        do throws(KeyStoreError) {
            try file.withLock { (file) throws(KeyStoreError) in try file.writeIfPresent(body) }
        } catch {
            guard error.code == .corruptStore else { throw error }
        }
    }
}

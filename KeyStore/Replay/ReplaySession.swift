internal import Pushcrypt

/// One user of `replay.db`.
final class ReplaySession {
    private let file: RecoverableDatabase

    init(in path: String, busyTimeout: Int32) {
        file = RecoverableDatabase(ReplayTables.kind, in: path, busyTimeout: busyTimeout)
    }

    func judge(_ message: ReplayMessage, at now: Timestamp) -> ReplayJudgement {
        do throws(KeyStoreError) {
            let verdict = try remember(message, at: now)
            return ReplayJudgement(verdict: verdict, problem: nil, wasDamaged: file.takeDamaged())
        } catch {
            // What cannot be written may still be read.
            return ReplayJudgement(
                verdict: (try? look(message, at: now)) ?? .new, problem: error, wasDamaged: file.takeDamaged())
        }
    }

    private func remember(_ message: ReplayMessage, at now: Timestamp) throws(KeyStoreError) -> ReplayVerdict {
        try file.write(filling: Self.remade(at: now)) { (connection) throws(KeyStoreError) in
            var storage = ReplayTables(connection: connection)
            return try ReplayRules.judge(message, in: &storage, at: now)
        }
    }

    private func look(_ message: ReplayMessage, at now: Timestamp) throws(KeyStoreError) -> ReplayVerdict? {
        try file.readOpen { (connection) throws(KeyStoreError) in
            let storage = ReplayTables(connection: connection)
            return ReplayRules.verdict(
                of: message, row: try storage.row(of: message), floor: try storage.floor(of: message.sender), at: now)
        }
    }

    // MARK: The file

    /// Connects, if it can; a judgement tries again and says what is wrong.
    func prepare(at now: Timestamp) { file.prepare(filling: Self.remade(at: now)) }

    func create(floor: Timestamp) throws(KeyStoreError) {
        try file.create { (connection) throws(KeyStoreError) in try ReplayTables.fill(connection, floor: floor) }
    }

    func remake(instead damaged: FileIdentity?, at now: Timestamp) throws(KeyStoreError) {
        try file.remake(instead: damaged, filling: Self.remade(at: now))
    }

    private static func remade(at now: Timestamp) -> RecoverableDatabase.Filling {
        { (connection) throws(KeyStoreError) in
            let floor = now.subtracting(milliseconds: ReplayRules.remadeFloorAge)
            try ReplayTables.fill(connection, floor: floor)
        }
    }
}

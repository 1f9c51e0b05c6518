public import Pushcrypt

extension SQLiteKeyStore {
    /// Access that other users have, the worst first, and whether the database has another name.
    package func warnings() -> [Finding] { (try? directory?.warnings()) ?? [] }

    /// Checks the whole store: files, what other users can reach, the database's structure and tables, the tag of every row, both
    /// states with each secret, and whether it can be written.
    ///
    /// A million devices take some seconds. Changes nothing.
    public func check() -> [Finding] {
        var check = StoreCheck(store: self)
        check.run()
        return check.findings
    }

    /// Returns the damaged rows of devices; throws the first other problem of the database, after these words if it is damage.
    func requireSound(_ damage: String) throws(KeyStoreError) -> [Finding] {
        var check = StoreCheck(store: self)
        check.checkContent()
        if let failure = check.failure {
            throw failure.code == .corruptStore ? KeyStoreError(.corruptStore, "\(damage): \(failure)") : failure
        }
        return check.findings.filter { $0.severity == .error }
    }
}

/// Checks a store step by step; a step that fails does not stop the next.
private struct StoreCheck {
    private static let rowsListed = 10

    let store: SQLiteKeyStore
    var findings: [Finding] = []
    /// The first error that is no damaged row of a device.
    private(set) var failure: KeyStoreError?
    var isSound = true

    mutating func run() {
        checkFiles()
        checkContent()
        if isSound { step { check throws(KeyStoreError) in try check.checkTokens() } }
        step { check throws(KeyStoreError) in try check.checkWriting() }
    }

    /// Checks the database, and writes nothing.
    mutating func checkContent() {
        step { check throws(KeyStoreError) in try check.checkDatabase() }
        check(DeviceState.self)
        check(ProviderState.self)
        // Reading on in damaged pages might never end.
        guard isSound else { return }
        checkRows(of: HeldRow.self)
        checkRows(of: EarlierKeyRow.self)
    }

    private mutating func find(_ severity: Finding.Severity, _ message: String, fix: String = "") {
        findings.append(Finding(severity, message, fix: fix))
    }

    private mutating func step(_ body: (inout StoreCheck) throws(KeyStoreError) -> Void) {
        do throws(KeyStoreError) {
            try body(&self)
        } catch {
            failure = failure ?? error
            find(.error, error.description)
        }
    }

    private mutating func checkFiles() {
        guard let directory = store.directory else { return }
        let before = findings.count
        step { check throws(KeyStoreError) in check.findings += try directory.warnings() }
        if findings.count == before { find(.note, "only their owner can access the files in \(directory.path)") }
    }

    private mutating func checkDatabase() throws(KeyStoreError) {
        let (isSound, others) = try store.withConnection { (connection) throws(KeyStoreError) in
            (try connection.isSound(), try connection.require(Schema.declarations))
        }
        if isSound {
            find(.note, "the database is sound (SQLite \(SQLiteConnection.version))")
        } else {
            self.isSound = false
            let message = "the database is damaged"
            failure = failure ?? KeyStoreError(.corruptStore, message)
            find(.error, message, fix: "restore it from a backup")
        }
        if !others.isEmpty {
            let names =
                others.prefix(Self.rowsListed).joined(separator: ", ") + (others.count > Self.rowsListed ? ", …" : "")
            find(.warning, "another program has made tables or indices in the database, which are ignored: \(names)")
        }
    }

    private mutating func check<State: SealedState>(_: State.Type) {
        step { check throws(KeyStoreError) in
            let found = try check.store.readOnce { (store) throws(KeyStoreError) -> (state: State, revision: Bytes)? in
                try store.load()
            }
            guard let count = try found?.state.check() else { return }
            check.find(.note, "the \(State.row)'s state: \(count) key\(count == 1 ? "" : "s"), authentic")
        }
    }

    private mutating func checkRows<Row: StoredRow>(of type: Row.Type) {
        var (count, isWhole) = (0, false)
        var damaged: [KeyStoreError] = []
        step { check throws(KeyStoreError) in
            try check.store.readOnce { (transaction) throws(KeyStoreError) in
                _ = try transaction.connection.rows(type.table.select, []) { row in
                    count += 1
                    do throws(KeyStoreError) { _ = try transaction.verified(row) as Row } catch {
                        damaged.append(error)
                    }
                }
            }
            isWhole = true
        }
        for error in damaged.prefix(Self.rowsListed) { find(.error, error.description) }
        if damaged.count > Self.rowsListed {
            find(.error, "\(damaged.count - Self.rowsListed) more rows of table \(type.table.name) are damaged")
        }
        if damaged.isEmpty, isWhole {
            find(.note, "table \(type.table.name): \(count) row\(count == 1 ? "" : "s"), all authentic")
        }
    }

    /// Tokens that two devices of one user and app have, as imports of two stores leave them: each push comes twice.
    private mutating func checkTokens() throws(KeyStoreError) {
        let sql =
            "SELECT min(id), max(id), user, count(*) FROM devices WHERE user IS NOT NULL AND token IS NOT NULL AND removed IS NULL GROUP BY user, token, topic HAVING count(*) > 1"
        let pairs = try store.readOnce { (transaction) throws(KeyStoreError) in
            try transaction.connection.rows("\(sql) LIMIT \(Self.rowsListed + 1)")
        }
        for pair in pairs.prefix(Self.rowsListed) {
            let names = pair.prefix(3).map { value in
                guard case .text(let bytes) = value, let text = String(exactly: bytes), StoreName.isAllowed(text) else {
                    return "?"
                }
                return "'\(text)'"
            }
            find(
                .warning,
                "devices \(names[0]) and \(names[1]) of user \(names[2]) have one push token: each push comes twice",
                fix:
                    "remove the device that is no longer in use with 'device remove', or wait: the next registration of the other one removes it"
            )
        }
        if pairs.count > Self.rowsListed { find(.warning, "more devices of one user have one push token") }
    }

    /// Writes an unchanged value, which exercises the same path to the disk as any change.
    private mutating func checkWriting() throws(KeyStoreError) {
        // A full disk is nobody's choice.
        if let readOnly = store.readOnly, readOnly.reason.code != .diskFull {
            find(.note, "the store is read only here: \(readOnly.reason)")
            return
        }
        do throws(KeyStoreError) {
            try store.withConnection { (connection) throws(KeyStoreError) in
                try connection.execute("PRAGMA busy_timeout = 5000")
            }
            try store.write { (transaction) throws(KeyStoreError) in
                let version = try Schema.version(of: transaction.connection)
                try transaction.connection.execute("PRAGMA user_version = \(version)")
            }
        } catch {
            guard error.code == .storeBusy else { throw error }
            return find(.warning, "another process has been writing for 5 seconds, such as an import")
        }
        find(.note, "the store can be written")
    }
}

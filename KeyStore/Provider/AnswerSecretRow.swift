public import Pushcrypt

/// An answer secret of an app: the one in use, or one that was replaced and still opens answers.
struct AnswerSecretRow: StoredRow {
    static let table = StoreTable("answer_secrets", key: "id", "provider", "created", "replaced", "sealed")
    static let put = table.put

    /// How long a replaced secret, or the replaced key of a device, opens answers: a day longer than a message can be
    /// answered.
    static let grace = Interval.days(32)

    let id: Int64
    /// The number of the provider key's row.
    let provider: Int64
    let createdAt: Timestamp
    /// When another secret took its place; nil for the one in use.
    var replacedAt: Timestamp?
    private let sealed: Bytes

    init(id: Int64, provider: Int64, createdAt: Timestamp, _ secret: AnswerSecret, _ keys: StoreKeys) {
        self.id = id
        self.provider = provider
        self.createdAt = createdAt
        sealed = secret.withBytes { keys.seal($0, at: Self.place(id, provider)) }
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        provider = try columns.integer()
        createdAt = try columns.time()
        replacedAt = try columns.optionalTime()
        sealed = try columns.blob()
    }

    var values: [SQLiteValue] {
        [.integer(id), .integer(provider), .time(createdAt), .time(replacedAt), .blob(sealed)]
    }

    private static func place(_ id: Int64, _ provider: Int64) -> StoreKeys.Place {
        StoreKeys.Place(table: table.name, row: id, generation: UInt64(bitPattern: provider), state: 0)
    }

    func secret(_ keys: StoreKeys) throws(KeyStoreError) -> AnswerSecret {
        let secret = try? keys.open(sealed, at: Self.place(id, provider)).withSpan { (bytes) throws(KeyError) in
            try AnswerSecret(bytes: bytes)
        }
        guard let secret else { throw .damagedRow(.integer(id), in: Self.table.name) }
        return secret
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try secret(keys) }
}

// MARK: The secret of an app

extension SQLiteKeyStore {
    /// Returns the answer secret of a provider key's app, for a sealer; makes one the first time.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func answerSecret(named name: String? = nil, at now: Timestamp) throws(KeyStoreError) -> AnswerSecret {
        let found = try read { (store) throws(KeyStoreError) in
            try store.answerSecret(of: store.providerKeyRow(name).id)?.secret(keys)
        }
        if let found { return found }
        return try write { (store) throws(KeyStoreError) in
            let provider = try store.providerKeyRow(name).id
            // Another process may have made it meanwhile.
            if let row = try store.answerSecret(of: provider) { return try row.secret(keys) }
            let secret = AnswerSecret()
            try store.put(
                AnswerSecretRow(
                    id: store.newRowNumber(in: AnswerSecretRow.self), provider: provider, createdAt: now, secret, keys))
            return secret
        }
    }
}

extension StoreTransaction {
    /// Returns the answer secrets of a provider key, the oldest first.
    func answerSecrets(of provider: Int64) throws(KeyStoreError) -> [AnswerSecretRow] {
        try rows(AnswerSecretRow.self, "WHERE provider = ? ORDER BY id", .integer(provider))
    }

    func answerSecret(of provider: Int64) throws(KeyStoreError) -> AnswerSecretRow? {
        try answerSecrets(of: provider).last { $0.replacedAt == nil }
    }

    /// Ends the use of a provider key's answer secret: the next message that can be answered makes another. A stolen one is
    /// destroyed, with those before it.
    func replaceAnswerSecret(of provider: Int64, isStolen: Bool, at now: Timestamp) throws(KeyStoreError) {
        for var row in try answerSecrets(of: provider) {
            let end = row.replacedAt?.adding(AnswerSecretRow.grace)
            if isStolen || end.map({ $0 < now }) ?? false {
                try delete(AnswerSecretRow.self, key: .integer(row.id))
            } else if row.replacedAt == nil {
                row.replacedAt = now
                try put(row)
            }
        }
    }

    /// Deletes the answer secrets of a provider key.
    func deleteAnswerSecrets(of provider: Int64) throws(KeyStoreError) {
        for row in try answerSecrets(of: provider) { try delete(AnswerSecretRow.self, key: .integer(row.id)) }
    }

    /// Whether any message can be answered.
    var hasAnswerSecrets: Bool {
        get throws(KeyStoreError) {
            try connection.integer("SELECT EXISTS (SELECT 1 FROM \(AnswerSecretRow.table.name))") != 0
        }
    }
}

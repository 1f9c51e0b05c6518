package import Pushcrypt

/// The user's responses to notifications that the app could not handle yet, because its files are still locked.
///
/// They have to be written and read while the phone is locked, so the database's directory needs the protection
/// `completeUntilFirstUserAuthentication`, and the file system protects them from no one who has a phone that was
/// unlocked once. So every response is sealed to a device key. The file alone, from a backup or from the disk, reveals
/// how many responses there are, when, how long and for which key, and nothing else. After a log-out they cannot be
/// read any more, because the key is gone, and removed ones are overwritten.
///
/// It does not protect from anyone who can use the app's Keychain items on the unlocked phone, which hold the key. Nor
/// does it prove that the user wrote a response: anyone who can write the file and knows the public key can add one.
package struct Responses: Sendable {
    /// The maximum number of responses; beyond it, the oldest is dropped.
    package static let capacity = 64
    /// The maximum length of a response, in bytes: 512 KiB.
    package static let maximumLength = 1 << 19

    private static let label: StaticString = "pushcrypt/1 kept response"

    static let schema: StaticString = """
        CREATE TABLE responses (
            id INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, kept INTEGER NOT NULL, sealed BLOB NOT NULL UNIQUE);
        """

    let database: ExtensionDatabase

    /// A stored response.
    package struct Kept: Hashable, Sendable {
        package let response: ContiguousArray<UInt8>
        /// When it was stored.
        package let keptAt: Timestamp
        fileprivate let sealed: Bytes
    }

    /// Stores a response for later; it is on the disk when this returns.
    ///
    /// - Parameters:
    ///   - response: The response, in any form.
    ///   - key: The account's device key; the public half is enough, so no store has to be open.
    ///   - now: When the user responded.
    /// - Returns: The number of older responses dropped to make room.
    /// - Throws: `responseTooLarge`; `storeMissing` if the directory does not exist; `storeBusy`,
    ///   `diskFull`, `inputOutput`, `newerVersion`. Nothing is stored then.
    @discardableResult
    package func keep(
        _ response: ContiguousArray<UInt8>, sealedTo key: DevicePublicKey, at now: Timestamp
    ) throws(KeyStoreError) -> Int {
        guard response.count <= Self.maximumLength else {
            throw KeyStoreError(
                .responseTooLarge,
                "a response of \(response.count) bytes is too large to keep, the maximum is \(Self.maximumLength): handle it at once"
            )
        }
        let time = Self.bytes(of: now)
        let sealed: Bytes
        do throws(SodiumRefusal) {
            sealed = try SealedNote.seal(response.span, to: key, label: Self.label, authenticating: time.span)
        } catch {
            throw KeyStoreError(.inputOutput, "a response could not be sealed to key \(key.id)")
        }
        return try database.write(at: now) { (connection) throws(KeyStoreError) in
            try connection.rows(
                "INSERT INTO responses (key_id, kept, sealed) VALUES (?, ?, ?)",
                [.integer(Int64(key.id.value)), .unsigned(now.milliseconds), .blob(sealed)])
            let dropped = try connection.integer("SELECT max(0, count(*) - \(Self.capacity)) FROM responses")
            try connection.rows(
                "DELETE FROM responses WHERE id IN (SELECT id FROM responses ORDER BY id LIMIT ?)", [.integer(dropped)])
            return Int(clamping: dropped)
        }
    }

    /// Returns the stored responses, oldest first. Each stays until it is removed, so that none is lost if the app is
    /// killed while it handles one; so the app may see one twice.
    ///
    /// Responses that cannot be opened any more, because their key was purged or they are damaged, are deleted.
    ///
    /// - Throws: The errors of `keep` and of the key store; nothing is deleted then, in particular while the store is
    ///   locked.
    package func responses(
        openedWith keys: any DeviceStore, at now: Timestamp
    ) throws(KeyStoreError) -> [Kept] {
        // Never more than the capacity, even from a forged file.
        let rows = try database.read { (connection) throws(KeyStoreError) in
            try connection.rows("SELECT key_id, kept, sealed FROM responses ORDER BY id LIMIT \(Self.capacity)")
        }
        guard let rows, !rows.isEmpty else { return [] }
        // Without a state there is no key, and it does not come back.
        let state = try keys.state()
        var kept: [Kept] = []
        var lost: [Bytes] = []
        for row in rows {
            // One that no version writes is skipped.
            guard case .integer(let key) = row[0], let key = UInt32(exactly: key), case .integer(let time) = row[1],
                case .blob(let sealed) = row[2]
            else { continue }
            let keptAt = Timestamp(milliseconds: UInt64(bitPattern: time))
            if let response = Self.open(sealed, KeyID(value: key), keptAt, with: state, now) {
                kept.append(Kept(response: response, keptAt: keptAt, sealed: sealed))
            } else {
                lost.append(sealed)
            }
        }
        try delete(lost)
        return kept
    }

    /// Deletes a response that the app has handled; throws the errors of `keep`, and then returns the response again.
    package func remove(_ response: Kept) throws(KeyStoreError) { try delete([response.sealed]) }

    // MARK: The database

    private static func open(
        _ sealed: Bytes, _ id: KeyID, _ keptAt: Timestamp, with state: DeviceState, _ now: Timestamp
    ) -> Bytes? {
        guard let key = try? state.key(id, at: now)?.key.deviceKey() else { return nil }
        let time = bytes(of: keptAt)
        return try? SealedNote.open(sealed.span, with: key, label: label, authenticating: time.span)
    }

    private static func bytes(of time: Timestamp) -> Bytes {
        var bytes = Bytes()
        bytes.append(bigEndian: time.milliseconds)
        return bytes
    }

    /// Deletes by the sealed bytes, which no other row has, not even in another file of this name.
    private func delete(_ sealed: [Bytes]) throws(KeyStoreError) {
        guard !sealed.isEmpty else { return }
        try database.writeIfPresent { (connection) throws(KeyStoreError) in
            for row in sealed { try connection.rows("DELETE FROM responses WHERE sealed = ?", [.blob(row)]) }
        }
    }
}

package import Pushcrypt

/// What a person has answered to notifications and the app could not take in yet, because files of its own are still
/// locked: the file `responses.db`.
///
/// It has to be written and read while the phone is locked, so its place needs the protection
/// `completeUntilFirstUserAuthentication`, and the file system keeps it from nobody who has a phone that was unlocked once.
/// Therefore every response lies in it sealed to a device key. Who gets the file alone, from a backup or from the disk, reads
/// how many there are, when, how long and for which key, and nothing else. What was logged out cannot be read any
/// more, because its key is gone, and what is removed is overwritten.
///
/// It does not protect from whoever can use the app's Keychain items on the unlocked phone, which is where the key is, and
/// it does not prove that the person wrote a response: who can write the file and knows the package key can put one in.
///
/// Any number of threads and processes may use one file, and be killed at any moment. A damaged file is made anew.
package final class ResponseFile: Sendable {
    /// The most responses that are kept; the oldest of more is given up.
    package static let capacity = 64
    /// The most bytes of one response: 512 KiB.
    package static let maximumLength = 1 << 19

    private static let label: StaticString = "pushcrypt/1 kept response"

    private let file: Locked<RecoverableDatabase>

    /// A response that waits.
    package struct Kept: Hashable, Sendable {
        /// What was kept.
        package let response: ContiguousArray<UInt8>
        /// When.
        package let keptAt: Timestamp
        fileprivate let sealed: Bytes
    }

    /// Uses the file in this directory, which the app has made; it is made when something is to be kept.
    package init(in directory: String) {
        file = Locked(RecoverableDatabase(ResponseTables.kind, in: directory, busyTimeout: ReplayFile.busyTimeout))
    }

    /// Keeps a response for later; it is on the disk when this returns.
    ///
    /// - Parameters:
    ///   - response: what to keep, of any form.
    ///   - key: the account's device key; the package half is enough, so no store has to be open.
    ///   - now: when the person has answered.
    /// - Returns: how many older responses were given up for it.
    /// - Throws: `responseTooLarge`; `storeMissing` when the directory is not there, `unsafeStoreFile`, `storeBusy`,
    ///   `diskFull`, `inputOutput`, `newerVersion`. Nothing is kept then.
    @discardableResult
    package func keep(
        _ response: ContiguousArray<UInt8>, sealedTo key: DevicePublicKey, at now: Timestamp
    ) throws(KeyStoreError) -> Int {
        guard response.count <= Self.maximumLength else {
            throw KeyStoreError(
                .responseTooLarge,
                "a response of \(response.count) bytes is not kept, \(Self.maximumLength) are the most: take it in at once"
            )
        }
        let time = Self.bytes(of: now)
        let sealed: Bytes
        do throws(SodiumRefusal) {
            sealed = try SealedNote.seal(response.span, to: key, label: Self.label, authenticating: time.span)
        } catch {
            throw KeyStoreError(.inputOutput, "a response could not be sealed to key \(key.id)")
        }
        return try write { (tables) throws(KeyStoreError) in try tables.insert(sealed, key: key.id, at: now) }
    }

    /// The responses that wait, oldest first. Each stays until it is removed, so that none is lost when the app is killed
    /// while it takes one in; it may therefore see one twice.
    ///
    /// What cannot be opened any more, because its key was purged, or because it is damaged, is deleted.
    ///
    /// - Throws: what `keep` and the key store throw; nothing is deleted then, in particular while the store is locked.
    package func responses(
        openedWith keys: some DeviceKeyReading, at now: Timestamp
    ) throws(KeyStoreError) -> [Kept] {
        let rows = try file.withLock { (file) throws(KeyStoreError) in
            try file.readOrRemake { (connection) throws(KeyStoreError) in
                try ResponseTables(connection: connection).rows()
            } ?? []
        }
        var kept: [Kept] = []
        var lost: [Bytes] = []
        for row in rows {
            if let response = try Self.open(row, with: keys, now) {
                kept.append(Kept(response: response, keptAt: row.keptAt, sealed: row.sealed))
            } else {
                lost.append(row.sealed)
            }
        }
        try delete(lost)
        return kept
    }

    /// Deletes a response that the app has taken in; throws what `keep` throws, and the response is given again then.
    package func remove(_ response: Kept) throws(KeyStoreError) { try delete([response.sealed]) }

    // MARK: The file

    private static func open(
        _ row: ResponseTables.Row, with keys: some DeviceKeyReading, _ now: Timestamp
    ) throws(KeyStoreError) -> Bytes? {
        let key: DeviceKey
        do throws(KeyStoreError) {
            guard let found = try keys.deviceKey(id: row.keyID, at: now) else { return nil }
            key = found.key
        } catch {
            // Without a store there is no key, and none comes back.
            guard error.code == .storeMissing else { throw error }
            return nil
        }
        let time = bytes(of: row.keptAt)
        return try? SealedNote.open(row.sealed.span, with: key, label: label, authenticating: time.span)
    }

    private static func bytes(of time: Timestamp) -> Bytes {
        var bytes = Bytes()
        bytes.append(bigEndian: time.milliseconds)
        return bytes
    }

    private func delete(_ sealed: [Bytes]) throws(KeyStoreError) {
        guard !sealed.isEmpty else { return }
        try write { (tables) throws(KeyStoreError) in for row in sealed { try tables.delete(row) } }
    }

    private func write<R>(_ body: (ResponseTables) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try file.withLock { (file) throws(KeyStoreError) in
            try file.write { (connection) throws(KeyStoreError) in
                try body(ResponseTables(connection: connection))
            }
        }
    }
}

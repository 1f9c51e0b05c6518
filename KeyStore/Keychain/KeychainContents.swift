internal import Pushcrypt

/// The contents of a device's Keychain item: its keys, its pins, and the default name.
struct KeychainContents: KeychainItemContents {
    static let account = "device"

    /// The secret of a device key.
    enum Secret {
        case usable(DeviceKey)
        /// Of suite 2, with which this build cannot compute: the item keeps it, and everything else in it works.
        case kept(KeptSecret)

        fileprivate func withBytes(_ body: (Span<UInt8>) -> Void) {
            switch self {
            case .usable(let key): key.withScalar(body)
            case .kept(let secret): secret.bytes.withSpan(body)
            }
        }
    }

    final class KeptSecret: Sendable {
        fileprivate let bytes: SecretBytes

        fileprivate init(_ bytes: Span<UInt8>) { self.bytes = SecretBytes(copying: bytes) }
    }

    /// A device key with its secret.
    struct KeyRow: DeviceKeyEntry {
        let name: String
        let topic: Topic?
        let publicKey: DevicePublicKey
        let secret: Secret
        let generation: UInt64
        var state: DeviceKeyRecord.State
        let createdAt: Timestamp
        var retiresAt: Timestamp?
    }

    /// The key under which the device signs an account's records.
    struct UpdateKey {
        let account: String
        let key: SigningKey
    }

    var defaultName: String?
    /// In insertion order.
    var keys: [KeyRow] = []
    /// Ordered by number.
    var pins: [PinRow] = []
    /// In insertion order.
    var updateKeys: [UpdateKey] = []
}

// MARK: Serialisation

/// The data of the item. Equal contents have equal bytes, so that copies can be compared; big-endian.
///
///     1    version, 0x05
///     16   revision: random, new for each change
///     4    length of the table
///     n    table
///     32k  the scalars or seeds of its k keys, then of its u update keys, in the order of the table
///     32   SHA-256 of all the preceding bytes: distinguishes damage from a newer form
///
///     table   text default name, or empty; u32 k, k keys; u32 m, m pins; u32 u, u texts: accounts with an update key
///     key     text name; text topic, or empty; u8 suite; u64 generation; u8 state; u64 created; in state 3 only, u64
///             retires; 1,216 bytes public key, in suite 2 only, because not every build can compute it
///     pin     u64 number; text account; text topic, or empty; 32 bytes key; u8 origin; u64 created
///     text    u8 length, UTF-8
extension KeychainContents {
    static let version: UInt8 = 5
    private static let tableLength = 1 + KeychainItem.revisionLength..<1 + KeychainItem.revisionLength + 4
    private static let scalarLength = 32

    /// Parses the data of an item, completely or not at all.
    static func parse(_ data: Span<UInt8>) throws(KeyStoreError) -> (contents: KeychainContents, revision: Bytes) {
        guard data.count >= tableLength.upperBound + SHA256.digestLength else { throw damaged }
        guard data[0] <= version else {
            throw KeyStoreError(
                .newerVersion, "the keys in the Keychain were written by a newer version of the app: update the app")
        }
        guard data[0] == version || data[0] == 0 else {
            throw KeyStoreError(
                .olderVersion,
                "the keys in the Keychain have an earlier version's layout, which is no longer read: the app must delete them with purgeEverything, generate a new key and register again"
            )
        }
        let end = data.count - SHA256.digestLength
        let digest = SHA256.digest(data.extracting(0..<end))
        guard data[0] == version, Sodium.areEqual(digest.span, data.extracting(end..<data.count)) else { throw damaged }
        var header = KeychainReader(Bytes(copying: data.extracting(1..<tableLength.upperBound)))
        let revision = try header.bytes(KeychainItem.revisionLength)
        let length = Int(try header.integer(UInt32.self))
        guard length <= end - tableLength.upperBound else { throw damaged }
        let scalars = tableLength.upperBound + length
        let table = Bytes(copying: data.extracting(tableLength.upperBound..<scalars))

        var reader = KeychainReader(table)
        var contents = KeychainContents()
        contents.defaultName = try reader.optionalText()
        var place = scalars
        for _ in 0..<(try reader.integer(UInt32.self)) {
            guard end - place >= scalarLength else { throw damaged }
            contents.keys.append(try reader.key(data.extracting(place..<place + scalarLength)))
            place += scalarLength
        }
        for _ in 0..<(try reader.integer(UInt32.self)) { contents.pins.append(try reader.pin()) }
        for _ in 0..<(try reader.integer(UInt32.self)) {
            guard end - place >= scalarLength, let account = try? reader.name(),
                let key = try? SigningKey(seed: data.extracting(place..<place + scalarLength))
            else { throw damaged }
            contents.updateKeys.append(UpdateKey(account: account, key: key))
            place += scalarLength
        }
        // Data that could be written in another way, or has bytes left over, does not survive this comparison.
        guard place == end, contents.table == table, contents.isConsistent else { throw damaged }
        return (contents, revision)
    }

    /// The data of the item.
    func data(revision: Bytes) -> KeychainSecret {
        let table = table
        var head: Bytes = [Self.version]
        head += revision
        head.append(bigEndian: UInt32(truncatingIfNeeded: table.count))
        head += table
        let end = head.count + (keys.count + updateKeys.count) * Self.scalarLength
        return KeychainSecret(
            SecretBytes(count: end + SHA256.digestLength) { output in
                var place = 0
                func write(_ bytes: Span<UInt8>, _ output: inout MutableBytes) {
                    for index in bytes.indices { output[place + index] = bytes[index] }
                    place += bytes.count
                }
                write(head.span, &output)
                for row in keys { row.secret.withBytes { write($0, &output) } }
                for entry in updateKeys { entry.key.withSeed { write($0, &output) } }
                let digest = output.withSpan { SHA256.digest($0.extracting(0..<end)) }
                write(digest.span, &output)
            })
    }

    private var table: Bytes {
        var table = Bytes()
        table.append(text: defaultName)
        table.append(bigEndian: UInt32(truncatingIfNeeded: keys.count))
        for row in keys {
            table.append(text: row.name)
            table.append(text: row.topic?.bundleID)
            table.append(row.publicKey.suite.rawValue)
            table.append(bigEndian: row.generation)
            table.append(row.state.rawValue)
            table.append(bigEndian: row.createdAt.milliseconds)
            if let retiresAt = row.retiresAt { table.append(bigEndian: retiresAt.milliseconds) }
            if row.publicKey.suite == .xwing { table += row.publicKey.bytes }
        }
        table.append(bigEndian: UInt32(truncatingIfNeeded: pins.count))
        for row in pins {
            table.append(bigEndian: row.id)
            table.append(text: row.account)
            table.append(text: row.topic?.bundleID)
            table += row.key.bytes
            table.append(row.origin.rawValue)
            table.append(bigEndian: row.createdAt.milliseconds)
        }
        table.append(bigEndian: UInt32(truncatingIfNeeded: updateKeys.count))
        for entry in updateKeys { table.append(text: entry.account) }
        return table
    }

    /// The constraints of the SQLite tables and the rules of pins: ids and generations are unique, an account has at
    /// most two pins, of different keys and for one app, and the default exists.
    private var isConsistent: Bool {
        let generations = Dictionary(grouping: keys) { Bytes($0.name.utf8) }
        return Set(keys.map(\.publicKey.id)).count == keys.count
            && Set(updateKeys.map { Bytes($0.account.utf8) }).count == updateKeys.count
            && generations.values.allSatisfy { isRising($0.map(\.generation)) }
            && isRising(pins.map(\.id))
            && Dictionary(grouping: pins) { Bytes($0.account.utf8) }.values.allSatisfy { pins in
                pins.count <= PinRow.maximum && Set(pins.map(\.key)).count == pins.count
                    && Set(pins.map(\.topic)).count == 1
            }
            && defaultName.map { name in keys.contains { StoreName.areEqual($0.name, name) } } ?? true
    }

    private func isRising<Number: Comparable>(_ numbers: [Number]) -> Bool {
        zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
    }

    static var damaged: KeyStoreError {
        KeyStoreError(
            .corruptStore,
            "the Keychain item with the device's keys is damaged and is not used: the app must delete it with purgeEverything, generate a new key and register again"
        )
    }
}

extension KeychainReader {
    fileprivate mutating func key(_ scalar: Span<UInt8>) throws(KeyStoreError) -> KeychainContents.KeyRow {
        let (name, topic) = (try name(), try topic())
        guard let suite = CipherSuite(rawValue: try integer()) else { throw KeychainContents.damaged }
        let generation = try integer(UInt64.self)
        guard let state = DeviceKeyRecord.State(rawValue: try integer()) else { throw KeychainContents.damaged }
        let createdAt = try time()
        let retiresAt = state == .retiring ? try time() : nil
        let (publicKey, secret) = try secret(scalar, suite)
        return KeychainContents.KeyRow(
            name: name, topic: topic, publicKey: publicKey, secret: secret, generation: generation, state: state,
            createdAt: createdAt, retiresAt: retiresAt)
    }

    private mutating func secret(
        _ scalar: Span<UInt8>, _ suite: CipherSuite
    ) throws(KeyStoreError) -> (DevicePublicKey, KeychainContents.Secret) {
        let bytes = suite == .xwing ? try bytes(suite.publicKeyLength) : nil
        let written = bytes.map { DevicePublicKey(checked: $0) }
        if let written, !suite.isSupported { return (written, .kept(KeychainContents.KeptSecret(scalar))) }
        guard let key = try? DeviceKey(scalar: scalar, suite), key.publicKey == written ?? key.publicKey else {
            throw KeychainContents.damaged
        }
        return (key.publicKey, .usable(key))
    }

    fileprivate mutating func pin() throws(KeyStoreError) -> PinRow {
        let (id, account, topic) = (try integer(Int64.self), try name(), try topic())
        let key = try providerKey()
        guard let origin = PinnedProviderRecord.Origin(rawValue: try integer()) else { throw KeychainContents.damaged }
        return PinRow(id: id, account: account, topic: topic, key: key, origin: origin, createdAt: try time())
    }
}

internal import Pushcrypt

/// The keys that protect a store: one seals states, one authenticates rows. A store that
/// is made again beside the same `store.key` has the same keys.
final class StoreKeys: Sendable {
    private static let context: StaticString = "pcstore1"

    private enum Purpose: UInt64 {
        case sealing = 1
        case authentication = 2
    }

    /// One after the other, in the order of their purposes.
    private let keys: SecretBytes

    init(storeKey: borrowing SecretBytes) {
        keys = StoreKDF.subkeys(
            Purpose.sealing.rawValue...Purpose.authentication.rawValue, context: Self.context, of: storeKey)
    }

    private func withKey<R: ~Copyable, E: Error>(
        for purpose: Purpose, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let start = Int(purpose.rawValue - 1) * StoreKDF.keyLength
        return try keys.withSpan { (keys) throws(E) in
            try body(keys.extracting(start..<start + StoreKDF.keyLength))
        }
    }

    // MARK: Rows

    /// Returns the tag of a row, which binds it to these values, in this table.
    func tag(of values: [SQLiteValue], in table: StaticString) -> Bytes {
        var message = Bytes()
        message.reserveCapacity(512)
        message.append("pushcrypt/1 store row\0")
        message.append(UInt8(truncatingIfNeeded: table.utf8CodeUnitCount))
        message.append(table)
        for value in values { message.append(value) }
        return withKey(for: .authentication) { BLAKE2b.tag(of: message.span, key: $0) }
    }

    /// The tag of no row; distinguishes a wrong store key from a damaged row.
    var check: Bytes { tag(of: [], in: "key check") }

    // MARK: States

    /// Seals a state, which opens under its name and revision alone.
    func seal(_ form: Span<UInt8>, named name: String, _ revision: Bytes) -> Bytes {
        let data = associatedData(name, revision)
        let sealed = withKey(for: .sealing) { key in
            try? XChaCha20Poly1305.seal(form, key: key, authenticating: data.span)
        }
        guard let sealed else { preconditionFailure("libsodium refused a key of 32 bytes") }
        return sealed
    }

    /// Opens a state.
    func open(_ sealed: Bytes, named name: String, _ revision: Bytes) throws(SodiumRefusal) -> Ephemeral {
        let data = associatedData(name, revision)
        return try withKey(for: .sealing) { (key) throws(SodiumRefusal) in
            try XChaCha20Poly1305.open(sealed.span, key: key, authenticating: data.span)
        }
    }

    private func associatedData(_ name: String, _ revision: Bytes) -> Bytes { revision + Bytes(name.utf8) }
}

/// The single row that says how to obtain the store key, and which one it is.
struct StoreHeader {
    /// How the store key is derived from a passphrase; nil for a store with a `store.key`.
    struct Derivation {
        let salt: Bytes
        let cost: StoreKDF.Cost

        /// Creates a derivation with a new salt.
        init(cost: StoreKDF.Cost) { (salt, self.cost) = (Sodium.randomBytes(StoreKDF.saltLength), cost) }

        /// Reads a derivation, which nothing authenticates: the limits keep a hostile file from exhausting the machine.
        fileprivate init?(_ salt: Bytes, _ passes: SQLiteValue, _ memory: SQLiteValue) {
            guard salt.count == StoreKDF.saltLength, case .integer(let passes) = passes,
                case .integer(let memory) = memory, let passes = UInt64(exactly: passes),
                let memory = Int(exactly: memory), let cost = StoreKDF.Cost(passes: passes, memory: memory)
            else { return nil }
            (self.salt, self.cost) = (salt, cost)
        }

        func storeKey(from passphrase: StorePassphrase) throws(KeyStoreError) -> SecretBytes {
            do throws(SodiumRefusal) {
                return try passphrase.storeKey(salt: salt.span, cost: cost)
            } catch {
                throw KeyStoreError(
                    .inputOutput,
                    "deriving the key from the passphrase takes \(cost.memory >> 20) MiB of memory, which the system refused: free some memory and try again"
                )
            }
        }
    }

    let derivation: Derivation?
    let keyCheck: Bytes

    init(of connection: SQLiteConnection) throws(KeyStoreError) {
        let row = try connection.rows("SELECT salt, passes, memory, key_check FROM store").first
        guard let row, case .blob(let keyCheck) = row[3] else { throw Self.damaged(connection) }
        self.keyCheck = keyCheck
        switch row[0] {
        case .null: derivation = nil
        case .blob(let salt):
            guard let derivation = Derivation(salt, row[1], row[2]) else { throw Self.damaged(connection) }
            self.derivation = derivation
        default: throw Self.damaged(connection)
        }
    }

    private static func damaged(_ connection: SQLiteConnection) -> KeyStoreError {
        KeyStoreError(.corruptStore, "the header of \(connection.name) is damaged: restore it from a backup")
    }

    static func write(
        _ keys: StoreKeys, _ derivation: Derivation?, to connection: SQLiteConnection
    ) throws(KeyStoreError) {
        try connection.rows(
            "INSERT INTO store (id, salt, passes, memory, key_check) VALUES (1, ?, ?, ?, ?)",
            [
                .blob(derivation?.salt), derivation.map { .unsigned($0.cost.passes) } ?? .null,
                derivation.map { .integer(Int64($0.cost.memory)) } ?? .null, .blob(keys.check),
            ])
    }

    /// Whether these are the keys of the store.
    func isOf(_ keys: StoreKeys) -> Bool { Sodium.areEqual(keys.check.span, keyCheck.span) }
}

/// A passphrase that opens a key store, in guarded memory; it is never printed.
///
/// The caller wipes the bytes passed in. They are bytes and not a `String`, because a string cannot be wiped.
public final class StorePassphrase: Sendable {
    /// The maximum length of a passphrase, in bytes.
    package static let maximumLength = 1024

    private let secret: SecretBytes

    /// Creates a copy of 1 to 1024 bytes, exactly as they are; throws `invalidPassphrase`.
    public init(_ bytes: Span<UInt8>) throws(KeyStoreError) {
        guard (1...Self.maximumLength).contains(bytes.count) else {
            throw KeyStoreError(
                .invalidPassphrase,
                bytes.isEmpty
                    ? "the passphrase is empty" : "the passphrase is longer than \(Self.maximumLength) bytes")
        }
        secret = SecretBytes(copying: bytes)
    }

    func storeKey(salt: Span<UInt8>, cost: StoreKDF.Cost) throws(SodiumRefusal) -> SecretBytes {
        try secret.withSpan { (text) throws(SodiumRefusal) in
            try StoreKDF.key(passphrase: text, salt: salt, cost: cost)
        }
    }
}

extension StorePassphrase: CustomStringConvertible, CustomReflectable {
    /// The name of the type.
    public var description: String { "StorePassphrase" }

    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

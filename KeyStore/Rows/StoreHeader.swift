internal import Pushcrypt

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

/// The single row that says how to obtain the store key, and proves that it is the right one.
struct StoreHeader: StoredRow {
    static let table = StoreTable("store", key: "id", "store_id", "salt", "passes", "memory", "created", "key_check")
    static let put = table.put
    static let id: Int64 = 1

    /// How the store key is derived from a passphrase; nil for a store with a `store.key`.
    struct Derivation {
        let salt: Bytes
        let cost: StoreKDF.Cost
    }

    let storeID: Bytes
    let derivation: Derivation?
    let createdAt: Timestamp
    let keyCheck: Bytes

    init(keys: StoreKeys, derivation: Derivation?, createdAt: Timestamp) {
        storeID = keys.storeID
        self.derivation = derivation
        self.createdAt = createdAt
        keyCheck = keys.check
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        guard try columns.integer() == Self.id else { throw columns.damaged }
        storeID = try columns.blob()
        let salt = try columns.optionalBlob()
        let passes = try columns.optionalUnsigned()
        let memory = try columns.optionalUnsigned()
        createdAt = try columns.time()
        keyCheck = try columns.blob()
        guard storeID.count == StoreKeys.storeIDLength else { throw columns.damaged }
        guard let salt else {
            derivation = nil
            return
        }
        // Not authenticated yet: the limits keep a hostile file from exhausting the machine.
        guard salt.count == StoreKDF.saltLength, let passes, let memory = memory.flatMap({ Int(exactly: $0) }),
            let cost = StoreKDF.Cost(passes: passes, memory: memory)
        else { throw columns.damaged }
        derivation = Derivation(salt: salt, cost: cost)
    }

    var values: [SQLiteValue] {
        [
            .integer(Self.id), .blob(storeID), .blob(derivation?.salt),
            derivation.map { .unsigned($0.cost.passes) } ?? .null,
            derivation.map { .integer(Int64($0.cost.memory)) } ?? .null, .time(createdAt), .blob(keyCheck),
        ]
    }
}

extension StoreHeader.Derivation {
    /// Creates a derivation with a new salt at the given cost.
    init(cost: StoreKDF.Cost) {
        self.init(salt: Sodium.randomBytes(StoreKDF.saltLength), cost: cost)
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

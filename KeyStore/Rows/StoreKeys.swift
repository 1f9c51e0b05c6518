internal import Pushcrypt

/// The keys that protect a store: one seals states, one authenticates rows.
final class StoreKeys: Sendable {
    static let storeIDLength = 16
    private static let context: StaticString = "pcstore1"

    private enum Purpose: UInt64 {
        case sealing = 1
        case authentication = 2
    }

    let storeID: Bytes
    /// One after the other, in the order of their purposes.
    private let keys: SecretBytes

    private static let purposes = Purpose.sealing.rawValue...Purpose.authentication.rawValue

    init(storeKey: borrowing SecretBytes, storeID: Bytes) {
        self.storeID = storeID
        keys = StoreKDF.subkeys(Self.purposes, context: Self.context, of: storeKey)
    }

    convenience init(newStoreWith storeKey: consuming SecretBytes) {
        self.init(storeKey: storeKey, storeID: Sodium.randomBytes(Self.storeIDLength))
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

    /// Returns the tag of a row, which binds it to these values, in this table, of this store.
    func tag(of values: ArraySlice<SQLiteValue>, in table: StaticString) -> Bytes {
        tag(in: table) { message in for value in values { message.append(value) } }
    }

    /// Returns the tag of the first columns of a row in place.
    func tag(of row: SQLiteRow, columns: Int, in table: StaticString) -> Bytes {
        tag(in: table) { message in for column in 0..<columns { message.append(row, column) } }
    }

    private func tag(in table: StaticString, _ appendValues: (inout Bytes) -> Void) -> Bytes {
        var message = Bytes()
        message.reserveCapacity(512)
        message.append("pushcrypt/1 store row\0")
        appendLabel(table, to: &message)
        appendValues(&message)
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

    private func associatedData(_ name: String, _ revision: Bytes) -> Bytes {
        var data = Bytes()
        appendLabel("states", to: &data)
        data += revision
        data += Bytes(name.utf8)
        return data
    }

    /// Appends the store's id, and a table's name with its length.
    private func appendLabel(_ table: StaticString, to bytes: inout Bytes) {
        bytes.append(contentsOf: storeID)
        bytes.append(UInt8(truncatingIfNeeded: table.utf8CodeUnitCount))
        bytes.append(table)
    }
}

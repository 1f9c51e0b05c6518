internal import Pushcrypt

/// A value that a store seals as a whole, in a row of the table `states`.
protocol SealedState: Equatable, Sendable {
    /// The name of the row. It is sealed with the state.
    static var row: String { get }
    init(parsing form: Span<UInt8>) throws(KeyStoreError)
    var form: SecretForm { get }
    /// Uses every secret once; returns the number of keys. Throws `corruptStore` if a secret is not that of its key.
    func check() throws(KeyStoreError) -> Int
}

/// The state that was read last: while its revision stands, it is not opened again.
struct StateCache<State: SealedState> {
    var revision: Bytes = []
    var state: State?
}

/// The states that a connection has read.
struct StateCaches: Sendable {
    let device = Locked(StateCache<DeviceState>())
    let provider = Locked(StateCache<ProviderState>())

    func forget() {
        device.withLock { $0 = StateCache() }
        provider.withLock { $0 = StateCache() }
    }
}

extension StoreTransaction {
    /// Returns a state and its revision; nil if there is none.
    func load<State: SealedState>(
        _ cache: Locked<StateCache<State>>? = nil
    ) throws(KeyStoreError) -> (state: State, revision: Bytes)? {
        let known = cache?.withLock { cache in cache.state.map { ($0, cache.revision) } }
        let rows = try connection.rows(
            "SELECT revision, CASE WHEN revision = ? THEN 0 ELSE sealed END FROM states WHERE name = ?",
            [.blob(known?.1 ?? []), .text(State.row)])
        guard let row = rows.first else { return nil }
        if let known, row[0] == .blob(known.1) { return known }
        guard case .blob(let revision) = row[0], revision.count == revisionLength, case .blob(let sealed) = row[1],
            let form = try? keys.open(sealed, named: State.row, revision)
        else { throw .damagedState(named: State.row) }
        let state: State
        do throws(KeyStoreError) {
            state = try form.withSpan { (form) throws(KeyStoreError) in try State(parsing: form) }
        } catch {
            throw error.code == .corruptStore ? .damagedState(named: State.row) : error
        }
        cache?.withLock { ($0.revision, $0.state) = (revision, state) }
        return (state, revision)
    }

    /// Writes a state in place of another.
    func replace<State: SealedState>(_ old: State?, with state: State) throws(KeyStoreError) {
        let kept = state.form.secrets
        if old?.form.secrets.allSatisfy(kept.contains) == false { memory.hasLostSecrets = true }
        let revision = Sodium.randomBytes(revisionLength)
        let sealed = state.form.bytes().withSpan { keys.seal($0, named: State.row, revision) }
        try connection.rows(
            "INSERT INTO states (name, revision, sealed) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, sealed = excluded.sealed",
            [.text(State.row), .blob(revision), .blob(sealed)])
    }
}

extension KeyStoreError {
    static var damagedState: KeyStoreError {
        KeyStoreError(.corruptStore, "the stored keys are damaged and are not used")
    }

    static func damagedState(named name: String) -> KeyStoreError {
        KeyStoreError(
            .corruptStore,
            "row '\(name)' of table states is damaged, or was changed without the store key, and is not used: restore a backup"
        )
    }
}

/// A secret of a stored value, in guarded memory that the secrets of one value share.
struct Secret: Sendable, Equatable {
    fileprivate final class Memory: Sendable {
        let bytes: SecretBytes

        init(copying bytes: Span<UInt8>) { self.bytes = SecretBytes(copying: bytes) }
    }

    private let memory: Memory
    private let range: Range<Int>

    fileprivate init(_ memory: Memory, _ range: Range<Int>) {
        self.memory = memory
        self.range = range
    }

    init(copying secret: Span<UInt8>) { self.init(Memory(copying: secret), 0..<secret.count) }

    /// Calls `body` with the secret; its result must not contain a copy.
    func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try memory.bytes.withSpan { (bytes) throws(E) in try body(bytes.extracting(range)) }
    }

    static func == (a: Secret, b: Secret) -> Bool {
        a.memory === b.memory && a.range == b.range
            || a.withSpan { a in b.withSpan { b in a.count == b.count && Sodium.areEqual(a, b) } }
    }
}

/// The bytes of a value that is stored as a whole: the secrets of its keys, then JSON that has none of them. Big-endian.
///
///     1     version, 0x01
///     4     number of secrets, n
///     …     n times: u8 length, secret
///     rest  JSON, which names the secrets by their order
struct SecretForm {
    private static let version: UInt8 = 1
    private static let headLength = 5

    let secrets: [Secret]
    let json: Bytes

    init(secrets: [Secret], json: Bytes) {
        self.secrets = secrets
        self.json = json
    }

    /// Reads the bytes; throws `newerVersion` or `corruptStore`.
    init(parsing data: Span<UInt8>) throws(KeyStoreError) {
        guard data.count >= Self.headLength, data[0] > 0 else { throw .damagedState }
        guard data[0] == Self.version else {
            throw KeyStoreError(
                .newerVersion, "the keys were written by a newer version: update the app, or pushcrypt")
        }
        var ranges: [Range<Int>] = []
        var place = Self.headLength
        for _ in 0..<(Int(data[1]) << 24 | Int(data[2]) << 16 | Int(data[3]) << 8 | Int(data[4])) {
            guard place < data.count, data[place] > 0, Int(data[place]) < data.count - place else {
                throw .damagedState
            }
            ranges.append(place + 1..<place + 1 + Int(data[place]))
            place += 1 + Int(data[place])
        }
        let memory = Secret.Memory(copying: data.extracting(0..<place))
        secrets = ranges.map { Secret(memory, $0) }
        json = Bytes(copying: data.extracting(place..<data.count))
    }

    /// Returns the bytes, after a prefix.
    func bytes(after prefix: Bytes = []) -> SecretBytes {
        let length = secrets.reduce(0) { $0 + 1 + $1.withSpan { $0.count } }
        return SecretBytes(count: prefix.count + Self.headLength + length + json.count) { output in
            var place = prefix.count + Self.headLength
            output.write(prefix.span, at: 0)
            output[prefix.count] = Self.version
            output.write(bigEndian: UInt32(secrets.count), at: prefix.count + 1)
            for secret in secrets {
                secret.withSpan { secret in
                    output[place] = UInt8(secret.count)
                    output.write(secret, at: place + 1)
                    place += 1 + secret.count
                }
            }
            output.write(json.span, at: place)
        }
    }
}

/// An object of a stored value; a member of another kind is damage. What is read was authenticated, or is in the Keychain:
/// who can write that has the keys, so the import checks would protect nothing.
struct StateReader {
    private let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    func optional<R>(_ name: String, _ parse: (String) -> R?) throws(KeyStoreError) -> R? {
        guard let member = value[name] else { return nil }
        guard let result = member.string.flatMap(parse) else { throw .damagedState }
        return result
    }

    func text(_ name: String) throws(KeyStoreError) -> String? { try optional(name) { $0 } }

    func text(_ name: String) throws(KeyStoreError) -> String {
        guard let text: String = try text(name) else { throw .damagedState }
        return text
    }

    func number(_ name: String) throws(KeyStoreError) -> UInt64 {
        guard let member = value[name], let number = UInt64(String(decoding: member.written, as: UTF8.self)) else {
            throw .damagedState
        }
        return number
    }

    func time(_ name: String) throws(KeyStoreError) -> Timestamp? {
        value[name] == nil ? nil : Timestamp(milliseconds: try number(name))
    }

    func time(_ name: String) throws(KeyStoreError) -> Timestamp { Timestamp(milliseconds: try number(name)) }

    func flag(_ name: String) throws(KeyStoreError) -> Bool {
        guard let member = value[name] else { return false }
        guard let flag = member.bool else { throw .damagedState }
        return flag
    }

    func bytes(_ name: String) throws(KeyStoreError) -> Bytes? {
        try optional(name) { Base64URL.decode(Bytes($0.utf8).span) }
    }

    func bytes(_ name: String, _ length: Int) throws(KeyStoreError) -> Bytes? {
        guard let bytes = try bytes(name) else { return nil }
        guard bytes.count == length else { throw .damagedState }
        return bytes
    }

    func topic(_ name: String) throws(KeyStoreError) -> Topic? { try optional(name) { try? Topic($0) } }

    func deviceKey(_ name: String) throws(KeyStoreError) -> DevicePublicKey {
        guard let bytes = try bytes(name), CipherSuite.allCases.contains(where: { $0.publicKeyLength == bytes.count })
        else { throw .damagedState }
        return DevicePublicKey(checked: bytes)
    }

    func signingKey(_ name: String) throws(KeyStoreError) -> SigningPublicKey? {
        try bytes(name, SigningPublicKey.length).map(SigningPublicKey.init(checked:))
    }

    func providerKey(_ name: String) throws(KeyStoreError) -> ProviderPublicKey? {
        try bytes(name, ProviderPublicKey.length).map(ProviderPublicKey.init(checked:))
    }

    func providerKey(_ name: String) throws(KeyStoreError) -> ProviderPublicKey {
        guard let key: ProviderPublicKey = try providerKey(name) else { throw .damagedState }
        return key
    }

    func certificate(_ name: String) throws(KeyStoreError) -> Certificate? {
        try bytes(name, Certificate.length).map(Certificate.init(checked:))
    }

    func object<R>(_ name: String, _ read: (StateReader) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        guard let member = value[name] else { return nil }
        guard member.kind == .object else { throw .damagedState }
        return try read(StateReader(member))
    }

    func list<R>(_ name: String, _ read: (StateReader) throws(KeyStoreError) -> R) throws(KeyStoreError) -> [R] {
        guard let member = value[name] else { return [] }
        guard member.kind == .array else { throw .damagedState }
        var list: [R] = []
        for element in member.elements { list.append(try read(StateReader(element))) }
        return list
    }

    func raw(_ name: String) -> Bytes? { value[name]?.minified() }
}

extension JSONWriter {
    mutating func text(_ text: String?, for name: String) {
        if let text { string(text, for: name) }
    }

    mutating func bytes(_ bytes: Bytes?, for name: String) {
        if let bytes { string(Base64URL.string(bytes.span), for: name) }
    }

    mutating func time(_ time: Timestamp?, for name: String) {
        if let time { integer(time.milliseconds, for: name) }
    }

    mutating func flag(_ flag: Bool, for name: String) {
        if flag { bool(true, for: name) }
    }

    mutating func list<Element>(
        _ elements: [Element], for name: String, _ write: (Element, inout JSONWriter) -> Void
    ) {
        guard !elements.isEmpty else { return }
        array(for: name) { json in for element in elements { write(element, &json) } }
    }
}

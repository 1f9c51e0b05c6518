internal import Pushcrypt

/// A secret of a stored value, in guarded memory that the secrets of one value share.
struct Secret: Sendable, Equatable {
    fileprivate final class Memory: Sendable {
        let bytes: SecretBytes

        init(copying bytes: Span<UInt8>) { self.bytes = SecretBytes(copying: bytes) }
    }

    /// Where a secret is in memory, which tells it from others without reading it.
    struct Place: Hashable {
        private let memory: ObjectIdentifier
        private let range: Range<Int>

        fileprivate init(_ secret: Secret) { (memory, range) = (ObjectIdentifier(secret.memory), secret.range) }
    }

    private let memory: Memory
    private let range: Range<Int>

    var place: Place { Place(self) }

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
        a.place == b.place || a.withSpan { a in b.withSpan { b in a.count == b.count && Sodium.areEqual(a, b) } }
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

    /// The bytes, after others.
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

extension KeyStoreError {
    static var damagedState: KeyStoreError {
        KeyStoreError(.corruptStore, "the stored keys are damaged and are not used")
    }
}

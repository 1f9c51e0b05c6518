/// The key, the size and the hash of one sealed file, which together open it.
///
/// Every recipient of the file has the same key; the hash prevents one of them from replacing the file. The key is in
/// memory that is wiped with the last copy of this value, and is never printed. (`Docs/FormatFiles.md`)
public struct SealedFile: Sendable {
    /// The size of the sealed file in bytes, 21…2^53 - 1.
    public let size: UInt64
    /// The SHA-256 hash of the sealed file, 32 bytes.
    public let sha256: ContiguousArray<UInt8>

    private let key: Key

    private final class Key: Sendable {
        let bytes: Ephemeral

        init(_ bytes: consuming Ephemeral) {
            self.bytes = bytes
        }
    }

    init(key: consuming Ephemeral, size: UInt64, sha256: ContiguousArray<UInt8>) {
        self.key = Key(key)
        self.size = size
        self.sha256 = sha256
    }

    /// Calls `body` with the key; its result must not contain a copy.
    func withKey<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try key.bytes.withSpan(body)
    }
}

// MARK: Text form

extension SealedFile {
    /// Parses `key`, `size` and `sha256` of a reference's JSON and ignores other members; enough to open a file that
    /// has already been fetched.
    ///
    /// - Throws: `malformedReference`.
    public init(json: ContiguousArray<UInt8>) throws(AttachmentError) {
        try self.init(AttachmentFields(json))
    }

    /// Reads the three members of a reference.
    package init(_ fields: AttachmentFields) throws(AttachmentError) {
        let size = try fields.size()
        let sha256 = try fields.bytes("sha256", count: AttachmentFormat.hashLength)
        let key = try fields.bytes("key", count: AttachmentFormat.keyLength)
        self.init(key: Ephemeral(copying: key.span), size: size, sha256: sha256)
    }

    /// Writes the three members of a reference.
    package func write(to json: inout JSONWriter, includingKey: Bool = true) {
        if includingKey {
            json.string(
                withKey {
                    SecretBase64.unpaddedURL.encode($0).withSpan { String(decoding: Bytes(copying: $0), as: UTF8.self) }
                }, for: "key")
        }
        json.integer(size, for: "size")
        json.string(Base64URL.string(sha256.span), for: "sha256")
    }
}

extension SealedFile: CustomStringConvertible, CustomReflectable {
    /// The size and the hash, without the key.
    public var description: String { "SealedFile(\(size) bytes, sha256 \(sha256.hex))" }

    /// The size and the hash only.
    public var customMirror: Mirror { Mirror(self, children: ["size": size, "sha256": sha256.hex]) }
}

/// The layout of a sealed file: the STREAM construction. (`Docs/FormatFiles.md`)
///
///     off   len     field
///     0     4       "PCA2"
///     4     1       0x10: a chunk holds 2^16 bytes
///     5     65 552  each chunk but the last
///     …     16…     the last chunk, of 0…65 536 plain bytes
enum AttachmentFormat {
    static let magic: StaticString = "PCA2"
    static let chunkExponent: UInt8 = 0x10

    /// The first bytes of every sealed file, and the associated data of each chunk.
    static let header: ContiguousArray<UInt8> = {
        var header = ContiguousArray<UInt8>()
        header.append(magic)
        header.append(chunkExponent)
        return header
    }()

    /// The number of bytes before the first chunk.
    static let headerLength = magic.utf8CodeUnitCount + 1

    /// The number of plain bytes in each chunk except the last.
    static let chunkLength = 1 << Int(chunkExponent)
    static let overhead = ChaCha20Poly1305.tagLength
    static let sealedChunkLength = chunkLength + overhead

    /// The size of a sealed empty file.
    static let smallestSize = UInt64(headerLength + overhead)
    /// The largest integer that every JSON parser keeps exactly.
    static let largestSize: UInt64 = 1 << 53 - 1

    static let keyLength = ChaCha20Poly1305.keyLength
    static let hashLength = SHA256.digestLength

    /// Whether a sealed file can have this size: only the empty file ends with an empty chunk.
    static func isSize(_ size: UInt64) -> Bool {
        guard (smallestSize...largestSize).contains(size) else { return false }
        let last = (size - UInt64(headerLength)) % UInt64(sealedChunkLength)
        return last == 0 || last > UInt64(overhead) || size == smallestSize
    }

    /// Returns the nonce of a chunk: its number in 11 bytes, and whether it is the last.
    static func nonce(_ index: UInt64, isLast: Bool) -> ContiguousArray<UInt8> {
        var nonce: ContiguousArray<UInt8> = [0, 0, 0]
        nonce.append(bigEndian: index)
        nonce.append(isLast ? 1 : 0)
        return nonce
    }
}

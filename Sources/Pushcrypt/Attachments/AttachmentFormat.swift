/// The layout of a sealed file. (`Docs/Format.md`, Attachments)
///
///     off   len     field
///     0     4       "PCA1"
///     4     1       0x10: a chunk holds 2^16 bytes
///     5     24      header of the secret stream
///     29    65 553  each chunk but the last
///     …     17…     the last chunk, of 0…65 536 plain bytes
enum AttachmentFormat {
    static let magic: StaticString = "PCA1"
    static let chunkExponent: UInt8 = 0x10

    /// What every sealed file begins with, and the associated data of each of its chunks.
    static let prefix: ContiguousArray<UInt8> = {
        var prefix = ContiguousArray<UInt8>()
        prefix.append(magic)
        prefix.append(chunkExponent)
        return prefix
    }()

    /// The bytes before the first chunk.
    static let headerLength = magic.utf8CodeUnitCount + 1 + SecretStream.headerLength

    /// The plain bytes of each chunk but the last.
    static let chunkLength = 1 << Int(chunkExponent)
    static let sealedChunkLength = chunkLength + SecretStream.overhead

    /// The size of the sealed empty file.
    static let smallestSize = UInt64(headerLength + SecretStream.overhead)
    /// The last integer that every JSON reader keeps.
    static let largestSize: UInt64 = 1 << 53 - 1

    static let hashLength = SHA256.digestLength
}

/// Seals one file, piece by piece, in the memory of two chunks.
///
/// The key depends on the whole plain file, so the file is read twice. The order is enforced: only a finished first
/// pass returns a sealer, and only a second pass over exactly the same bytes returns the key.
///
///     var first = AttachmentSealer.FirstPass()
///     first.update(piece)                                        // for each piece
///     var second = first.sealer(for: sealer)
///     try second.seal(piece, into: &sealed)                      // for each piece, again
///     let file = try second.finish(into: &sealed)
///
/// After each call, the caller writes `sealed` to the file and empties it. It deletes the file unless `finish` returns.
/// (`Docs/FormatFiles.md`)
public struct AttachmentSealer: ~Copyable {
    private let measured: Measurement
    private let key: Ephemeral
    private let plainHash = SHA256()
    private var plainLength: UInt64 = 0
    private var output = Output()
    /// The waiting plain bytes: a chunk is sealed only when the next byte arrives, because it may be the last one.
    private var chunk = Ephemeral(count: AttachmentFormat.chunkLength)
    private var filled = 0

    /// The result of the first pass.
    struct Measurement {
        let length: UInt64
        let sha256: ContiguousArray<UInt8>
    }

    /// The first pass over a file, which measures and hashes it.
    public struct FirstPass: ~Copyable {
        private let hash = SHA256()
        private var length: UInt64 = 0

        /// Starts the pass.
        public init() {}

        /// Adds the next piece of the plain file, of any size.
        public mutating func update(_ plain: Span<UInt8>) {
            hash.update(plain)
            length += UInt64(plain.count)
        }

        /// Ends the pass, and starts the second one with a new key.
        ///
        /// The key is hedged with the signer's: two different files never have the same key, even if the random
        /// source fails. (`Docs/Format.md`, Randomness)
        package consuming func sealer(
            _ signer: EnvelopeSigner, random: consuming Ephemeral = Ephemeral(randomCount: 32)
        ) -> AttachmentSealer {
            let measured = Measurement(length: length, sha256: hash.finish())
            return AttachmentSealer(measured, key: signer.fileKey(for: measured, random: random))
        }
    }

    private init(_ measured: Measurement, key: consuming Ephemeral) {
        self.measured = measured
        self.key = key
    }

    /// Seals the next piece of the plain file, of any size, and appends the available output to `sealed`.
    ///
    /// - Throws: `changedFile` if the file is longer than in the first pass.
    public mutating func seal(
        _ plain: Span<UInt8>, into sealed: inout ContiguousArray<UInt8>
    ) throws(AttachmentError) {
        plainLength += UInt64(plain.count)
        guard plainLength <= measured.length else { throw Self.changedFile }
        plainHash.update(plain)
        var position = 0
        while position < plain.count {
            if filled == AttachmentFormat.chunkLength {
                output.push(chunk, count: filled, isLast: false, key: key, into: &sealed)
                filled = 0
            }
            let count = min(plain.count - position, AttachmentFormat.chunkLength - filled)
            let piece = plain.extracting(position..<position + count)
            chunk.withMutableBytes { $0.write(piece, at: filled) }
            filled += count
            position += count
        }
    }

    /// Appends the rest of the sealed file to `sealed`, and returns its key, size and hash.
    ///
    /// - Throws: `changedFile` if the file was different in the first pass; the output so far has no end and cannot be
    ///   opened.
    public consuming func finish(into sealed: inout ContiguousArray<UInt8>) throws(AttachmentError) -> SealedFile {
        guard plainLength == measured.length, plainHash.finish() == measured.sha256 else { throw Self.changedFile }
        output.push(chunk, count: filled, isLast: true, key: key, into: &sealed)
        return output.finish(key: key)
    }

    /// The sealed output, which is measured and hashed.
    private struct Output: ~Copyable {
        private let hash = SHA256()
        private var length: UInt64 = 0
        private var index: UInt64 = 0

        /// Appends a chunk, after the header if it is the first.
        mutating func push(
            _ chunk: borrowing Ephemeral, count: Int, isLast: Bool, key: borrowing Ephemeral,
            into sealed: inout ContiguousArray<UInt8>
        ) {
            let (header, start) = (AttachmentFormat.header, sealed.count)
            if index == 0 { sealed.append(contentsOf: header) }
            let nonce = AttachmentFormat.nonce(index, isLast: isLast)
            chunk.withSpan { chunk in
                key.withSpan { key in
                    do throws(SodiumRefusal) {
                        try ChaCha20Poly1305.seal(
                            chunk.extracting(0..<count), key: key, nonce: nonce.span, authenticating: header.span,
                            appendingTo: &sealed)
                    } catch {
                        preconditionFailure("a chunk of 64 KiB can always be sealed")
                    }
                }
            }
            hash.update(sealed.span.extracting(start..<sealed.count))
            length += UInt64(sealed.count - start)
            index += 1
        }

        consuming func finish(key: consuming Ephemeral) -> SealedFile {
            SealedFile(key: key, size: length, sha256: hash.finish())
        }
    }

    private static let changedFile = AttachmentError(
        .changedFile, "the file changed while it was being sealed; seal it again when nothing writes to it")
}

extension EnvelopeSigner {
    /// Derives the key of one file. (`Docs/Format.md`, Randomness)
    func fileKey(for file: AttachmentSealer.Measurement, random: consuming Ephemeral) -> Ephemeral {
        var length = ContiguousArray<UInt8>()
        length.append(bigEndian: file.length)
        let hmac = hedged()
        hmac.update("pushcrypt/1 file\0")
        random.withSpan { hmac.update($0) }
        hmac.update(length.span)
        hmac.update(file.sha256.span)
        return hmac.finish()
    }
}

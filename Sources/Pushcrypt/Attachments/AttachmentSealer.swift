/// Seals one file, piece by piece, in a memory of two chunks.
///
/// The key depends on the whole plain file, so a file is read twice. The order cannot be mistaken: only a finished first
/// pass gives a sealer, and only a second pass over the very same bytes gives the key.
///
///     var first = AttachmentSealer.FirstPass()
///     first.update(piece)                                        // for each piece
///     var sealer = first.sealer(for: sender)
///     try sealer.seal(piece, into: &sealed)                      // for each piece, once more
///     let file = try sealer.finish(into: &sealed)
///
/// The caller writes what is appended to `sealed`, empties it, and deletes what it has written unless `finish` returns.
/// (`Docs/Format.md`, Attachments)
public struct AttachmentSealer: ~Copyable {
    private let measured: Measurement
    private let key: Ephemeral
    private let plainHash = SHA256()
    private var plainLength: UInt64 = 0
    private var output: Output
    /// The plain bytes that wait: whether a chunk is the last one shows only when more comes.
    private var chunk = Ephemeral(count: AttachmentFormat.chunkLength)
    private var filled = 0

    /// What is known of the plain file after the first pass.
    struct Measurement {
        let length: UInt64
        let sha256: ContiguousArray<UInt8>
    }

    /// The first pass over a file: measures it.
    public struct FirstPass: ~Copyable {
        private let hash = SHA256()
        private var length: UInt64 = 0

        /// Begins at the start of a file.
        public init() {}

        /// Takes the next piece of the plain file, of any size.
        public mutating func update(_ plain: Span<UInt8>) {
            hash.update(plain)
            length += UInt64(plain.count)
        }

        /// Ends the pass, and begins the second one under a new key.
        ///
        /// The key is hedged with the sender's: it is never the same for two different files, not even where the random
        /// source fails. (`Docs/Format.md`, Randomness)
        public consuming func sealer(for sender: SenderKey) -> AttachmentSealer {
            self.sealer(.key(sender))
        }

        /// Starts the second pass, under a key that is hedged with the signer's hedge key.
        consuming func sealer(_ signer: EnvelopeSigner) -> AttachmentSealer {
            sealer(signer, random: Ephemeral(randomCount: 32), header: nil)
        }

        /// The seam for known answers; without a header the stream draws one.
        consuming func sealer(
            _ signer: EnvelopeSigner, random: consuming Ephemeral, header: ContiguousArray<UInt8>?
        ) -> AttachmentSealer {
            let measured = Measurement(length: length, sha256: hash.finish())
            let key = signer.fileKey(for: measured, random: random)
            let stream = key.withSpan { key in
                if let header {
                    SecretStream.Writer(key: key, header: header.span)
                } else {
                    SecretStream.Writer(key: key)
                }
            }
            return AttachmentSealer(measured, key: key, stream: stream)
        }
    }

    private init(_ measured: Measurement, key: consuming Ephemeral, stream: SecretStream.Writer) {
        self.measured = measured
        self.key = key
        output = Output(stream)
    }

    /// Seals the next piece of the plain file, of any size: appends what is ready to `sealed`.
    ///
    /// Throws `changedFile` when the file is longer than in the first pass.
    public mutating func seal(
        _ plain: Span<UInt8>, into sealed: inout ContiguousArray<UInt8>
    ) throws(AttachmentError) {
        plainLength += UInt64(plain.count)
        guard plainLength <= measured.length else { throw Self.changedFile }
        plainHash.update(plain)
        var position = 0
        while position < plain.count {
            if filled == AttachmentFormat.chunkLength {
                output.push(chunk, count: filled, .message, into: &sealed)
                filled = 0
            }
            let count = min(plain.count - position, AttachmentFormat.chunkLength - filled)
            let piece = plain.extracting(position..<position + count)
            chunk.withMutableSpan { $0.write(piece, at: filled) }
            filled += count
            position += count
        }
    }

    /// Ends the sealed file: appends the rest of it to `sealed`, and gives what opens it.
    ///
    /// Throws `changedFile` when the file was another one in the first pass; what was sealed until then has no end and
    /// opens nowhere.
    public consuming func finish(into sealed: inout ContiguousArray<UInt8>) throws(AttachmentError) -> SealedFile {
        guard plainLength == measured.length, plainHash.finish() == measured.sha256 else { throw Self.changedFile }
        output.push(chunk, count: filled, .final, into: &sealed)
        return output.finish(key: key)
    }

    /// The sealed side: what was appended, measured as it goes.
    private struct Output: ~Copyable {
        private let stream: SecretStream.Writer
        private let hash = SHA256()
        private var length: UInt64 = 0

        init(_ stream: SecretStream.Writer) {
            self.stream = stream
        }

        /// Appends a chunk, and before the first one the header.
        mutating func push(
            _ chunk: borrowing Ephemeral, count: Int, _ tag: SecretStream.Tag, into sealed: inout ContiguousArray<UInt8>
        ) {
            let prefix = AttachmentFormat.prefix
            if length == 0 { append(prefix + stream.header, to: &sealed) }
            append(
                chunk.withSpan { stream.push($0.extracting(0..<count), tag: tag, authenticating: prefix.span) },
                to: &sealed)
        }

        private mutating func append(_ bytes: ContiguousArray<UInt8>, to sealed: inout ContiguousArray<UInt8>) {
            hash.update(bytes.span)
            length += UInt64(bytes.count)
            sealed.append(contentsOf: bytes)
        }

        consuming func finish(key: consuming Ephemeral) -> SealedFile {
            SealedFile(key: key, size: length, sha256: hash.finish())
        }
    }

    private static let changedFile = AttachmentError(
        .changedFile, "the file changed while it was being sealed; seal it again when nothing writes to it")
}

extension EnvelopeSigner {
    /// The key of one file. (`Docs/Format.md`, Randomness)
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

/// Opens one sealed file, piece by piece, in the memory of two chunks.
///
///     var opener = AttachmentOpener(reference.file)
///     try opener.open(piece, into: &plain)                       // for each piece of the download
///     try opener.finish(into: &plain)
///
/// Every byte that is appended to `plain` was sealed under this key, in this position. That the file is complete and
/// the right one is known only when `finish` returns, and the last chunk is appended only then. The caller shows
/// nothing before, and deletes its output if anything throws. The result, or the code of the error, does not depend on
/// how the file is cut into pieces. (`Docs/FormatAttachments.md`)
public struct AttachmentOpener: ~Copyable {
    private let file: SealedFile
    private var stream: SecretStream.Reader?
    private let hash = SHA256()
    private var received: UInt64 = 0
    /// The header, or a sealed chunk: a chunk is opened only when the next byte arrives, because it may be the last
    /// one.
    private var waiting = ContiguousArray<UInt8>()
    private var chunk = Ephemeral(count: AttachmentFormat.chunkLength)
    private var isFirstChunk = true
    private var failure: AttachmentError?

    /// Creates an opener for a file.
    public init(_ file: SealedFile) {
        self.file = file
        waiting.reserveCapacity(AttachmentFormat.sealedChunkLength)
    }

    /// Opens the next piece of the sealed file, of any size, and appends the available output to `plain`.
    ///
    /// - Throws: `notSealed`, `authenticationFailed`, `malformedFile`, or `wrongSize` for the first byte beyond the
    ///   size; every later call throws the same error.
    public mutating func open(
        _ sealed: Span<UInt8>, into plain: inout ContiguousArray<UInt8>
    ) throws(AttachmentError) {
        if let failure { throw failure }
        do throws(AttachmentError) {
            // The part inside the size is checked first, so that the error does not depend on the pieces.
            let inside = Int(min(UInt64(sealed.count), file.size - received))
            try take(sealed.extracting(0..<inside), into: &plain)
            guard inside == sealed.count else { throw wrongSize("longer") }
        } catch {
            failure = error
            throw error
        }
    }

    /// Checks the whole file, and appends the last chunk to `plain`.
    ///
    /// - Throws: `wrongSize`, `truncatedFile`, `authenticationFailed`, `malformedFile` or `wrongHash`, in this order,
    ///   or an earlier error of `open`.
    public consuming func finish(into plain: inout ContiguousArray<UInt8>) throws(AttachmentError) {
        if let failure { throw failure }
        guard received == file.size else { throw wrongSize("shorter") }
        let (tag, count) = try pull()
        guard tag == .final else {
            throw tag == .message ? Self.truncated : Self.malformed("its last chunk has an unknown tag")
        }
        guard count > 0 || isFirstChunk else { throw Self.malformed("its last chunk is empty") }
        let expected = file.sha256
        let digest = hash.finish()
        guard Sodium.areEqual(digest.span, expected.span) else {
            throw AttachmentError(
                .wrongHash, "the file is not the one that its reference names; store it again, or seal it again")
        }
        chunk.withSpan { plain.append(copying: $0.extracting(0..<count)) }
    }

    // MARK: Chunks

    private mutating func take(
        _ piece: Span<UInt8>, into plain: inout ContiguousArray<UInt8>
    ) throws(AttachmentError) {
        hash.update(piece)
        received += UInt64(piece.count)
        var position = 0
        while position < piece.count {
            if waiting.count == lengthOfNext {
                if stream == nil { try begin() } else { try openChunk(into: &plain) }
                waiting.removeAll(keepingCapacity: true)
            }
            let count = min(piece.count - position, lengthOfNext - waiting.count)
            waiting.append(copying: piece.extracting(position..<position + count))
            position += count
        }
    }

    /// The length of the next part: the header, then whole chunks.
    private var lengthOfNext: Int {
        stream == nil ? AttachmentFormat.headerLength : AttachmentFormat.sealedChunkLength
    }

    private mutating func begin() throws(AttachmentError) {
        guard waiting.starts(with: AttachmentFormat.prefix) else {
            throw AttachmentError(
                .notSealed,
                "the file does not begin like a sealed file of this version; check the file at its url")
        }
        let header = ContiguousArray(waiting.dropFirst(AttachmentFormat.prefix.count))
        stream = file.withKey { SecretStream.Reader(key: $0, header: header.span) }
    }

    /// Opens a chunk that is not the last.
    private mutating func openChunk(into plain: inout ContiguousArray<UInt8>) throws(AttachmentError) {
        let (tag, count) = try pull()
        guard tag == .message else {
            throw Self.malformed(tag == .final ? "it continues after its end" : "a chunk has an unknown tag")
        }
        chunk.withSpan { plain.append(copying: $0.extracting(0..<count)) }
        isFirstChunk = false
    }

    /// Opens the waiting bytes into the front of `chunk`.
    private mutating func pull() throws(AttachmentError) -> (tag: SecretStream.Tag, count: Int) {
        guard let stream, waiting.count >= SecretStream.overhead else { throw Self.truncated }
        let (sealed, prefix) = (waiting, AttachmentFormat.prefix)
        do throws(SodiumRefusal) {
            return try chunk.withMutableBytes { (plain) throws(SodiumRefusal) in
                try stream.pull(sealed.span, authenticating: prefix.span, into: &plain)
            }
        } catch {
            throw AttachmentError(
                .authenticationFailed,
                "the file was changed, or is not sealed under the key of its reference; store it again, or seal it again"
            )
        }
    }

    // MARK: Errors

    private func wrongSize(_ how: String) -> AttachmentError {
        AttachmentError(
            .wrongSize,
            "the file is \(how) than the \(file.size) bytes of its reference; check the file at its url")
    }

    private static let truncated = AttachmentError(
        .truncatedFile, "the end of the file is missing; seal it again")

    private static func malformed(_ fault: String) -> AttachmentError {
        AttachmentError(
            .malformedFile, "the file breaks a rule of the format: \(fault); check the program that sealed it")
    }
}

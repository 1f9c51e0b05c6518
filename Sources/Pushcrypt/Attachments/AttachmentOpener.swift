/// Opens one sealed file, piece by piece, in the memory of two chunks.
///
///     var opener = AttachmentOpener(reference.file)
///     try opener.open(piece, into: &plain)                       // for each piece of the download
///     try opener.finish(into: &plain)
///
/// Every byte that is appended to `plain` was sealed under this key, in this position. That the file is complete and
/// the right one is known only when `finish` returns, and the last chunk is appended only then. The caller shows
/// nothing before, and deletes its output if anything throws. The result, or the code of the error, does not depend on
/// how the file is cut into pieces. (`Docs/FormatFiles.md`)
public struct AttachmentOpener: ~Copyable {
    private let file: SealedFile
    private let hash = SHA256()
    private var received: UInt64 = 0
    /// The number of received bytes that have been a part of the header or of a chunk.
    private var taken: UInt64 = 0
    /// The beginning of the header or of a sealed chunk.
    private var waiting = ContiguousArray<UInt8>()
    /// The number of the next chunk; nil before the header.
    private var index: UInt64?
    private var failure: AttachmentError?

    /// Creates an opener for a file.
    public init(_ file: SealedFile) {
        self.file = file
        waiting.reserveCapacity(AttachmentFormat.sealedChunkLength)
    }

    /// Opens the next piece of the sealed file, of any size, and appends the available output to `plain`.
    ///
    /// - Throws: `notSealed`, `authenticationFailed`, or `wrongSize` for the first byte beyond the size; every later call
    ///   throws the same error.
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
    /// - Throws: `wrongSize`, `authenticationFailed` or `wrongHash`, in this order, or an earlier error of `open`.
    public consuming func finish(into plain: inout ContiguousArray<UInt8>) throws(AttachmentError) {
        if let failure { throw failure }
        guard received == file.size else { throw wrongSize("shorter") }
        let last = try openChunk(isLast: true)
        let expected = file.sha256
        let digest = hash.finish()
        guard Sodium.areEqual(digest.span, expected.span) else {
            throw AttachmentError(
                .wrongHash, "the file is not the one that its reference names; store it again, or seal it again")
        }
        last.withSpan { plain.append(copying: $0) }
    }

    // MARK: Chunks

    private mutating func take(
        _ piece: Span<UInt8>, into plain: inout ContiguousArray<UInt8>
    ) throws(AttachmentError) {
        hash.update(piece)
        received += UInt64(piece.count)
        var position = 0
        while position < piece.count {
            let length = index == nil ? AttachmentFormat.headerLength : AttachmentFormat.sealedChunkLength
            let count = min(piece.count - position, length - waiting.count)
            waiting.append(copying: piece.extracting(position..<position + count))
            position += count
            taken += UInt64(count)
            // The last chunk waits for the checks of the whole file.
            guard waiting.count == length, taken < file.size else { continue }
            if index == nil {
                guard waiting == AttachmentFormat.header else { throw Self.notSealed }
            } else {
                try openChunk(isLast: false).withSpan { plain.append(copying: $0) }
            }
            index = index.map { $0 + 1 } ?? 0
            waiting.removeAll(keepingCapacity: true)
        }
    }

    /// Opens the waiting chunk.
    private func openChunk(isLast: Bool) throws(AttachmentError) -> Ephemeral {
        let (sealed, header) = (waiting, AttachmentFormat.header)
        let nonce = AttachmentFormat.nonce(index ?? 0, isLast: isLast)
        do throws(SodiumRefusal) {
            return try file.withKey { (key) throws(SodiumRefusal) in
                try ChaCha20Poly1305.open(sealed.span, key: key, nonce: nonce.span, authenticating: header.span)
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

    private static let notSealed = AttachmentError(
        .notSealed, "the file does not begin like a sealed file of this version; check the file at its url")
}

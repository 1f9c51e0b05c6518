/// A body that is too long for a push, as a sealed file that replaces the short body if it can be fetched.
/// (`Docs/FormatFiles.md`, Full body)
///
///     {"aps":{"alert":{"body":"The beginning…"}},"pushcrypt":{"body":{"url":…}}}
public struct FullBody: Sendable {
    /// The maximum length in bytes of UTF-8: one chunk of a sealed file, and far more than any system shows.
    package static let maximumLength = AttachmentFormat.chunkLength

    /// The sealed file, which the caller stores at the url of the reference.
    public let sealedFile: ContiguousArray<UInt8>
    /// The reference for the payload.
    public let reference: AttachmentReference

    static let key = "body"
    /// The type in the reference. The name is constant, because nobody sees it.
    static let type = "public.plain-text"
    static let name = "body"
    package static let maximumSealedSize = Int(AttachmentFormat.smallestSize) + maximumLength
    private static let sealedSizes = AttachmentFormat.smallestSize + 1...UInt64(maximumSealedSize)
}

// MARK: Seal

extension FullBody {
    /// Seals the body of a payload, or returns nil if it has none to show.
    init?(of payload: ContiguousArray<UInt8>, url: String, by signer: EnvelopeSigner) throws(AttachmentError) {
        guard let text = Self.body(of: payload) else { return nil }
        let plain = ContiguousArray(text.utf8)
        guard plain.count <= Self.maximumLength else {
            throw AttachmentError(
                .bodyTooLong,
                "the body has \(plain.count) bytes, and a full body at most \(Self.maximumLength); shorten it, or let the app fetch it"
            )
        }
        var first = AttachmentSealer.FirstPass()
        first.update(plain.span)
        var fileSealer = first.sealer(signer)
        var sealed = ContiguousArray<UInt8>()
        try fileSealer.seal(plain.span, into: &sealed)
        let file = try fileSealer.finish(into: &sealed)
        sealedFile = sealed
        reference = try AttachmentReference(url: url, file: file, type: Self.type, name: Self.name)
    }

    private static func body(of payload: ContiguousArray<UInt8>) -> String? {
        guard let alert = try? JSONDocument(parsing: payload).root[PayloadKeys.aps]?["alert"],
            alert["loc-key"]?.string?.isEmpty ?? true, let text = alert.string ?? alert["body"]?.string
        else { return nil }
        return text.isEmpty ? nil : text
    }
}

// MARK: Read

extension FullBody {
    /// Reads the reference in an opened payload; returns nil if there is none.
    static func reference(in payload: JSONValue) throws(AttachmentError) -> AttachmentReference? {
        guard let value = payload[PayloadKeys.reserved]?[key], value.kind != .null else { return nil }
        do throws(AttachmentError) {
            let reference = try AttachmentReference(AttachmentFields(value))
            guard reference.type == type, sealedSizes.contains(reference.file.size) else {
                throw AttachmentFields.malformed(
                    "a full body has the type \(type) and \(sealedSizes.lowerBound) to \(sealedSizes.upperBound) sealed bytes"
                )
            }
            return reference
        } catch {
            throw AttachmentError(error.code, "full body: \(error)")
        }
    }

    /// Returns the text of a plain file; throws `malformedFile`.
    package static func text(_ plain: ContiguousArray<UInt8>) throws(AttachmentError) -> String {
        guard !plain.isEmpty, plain.count <= maximumLength, let text = String(validatingUTF8: plain) else {
            throw AttachmentError(
                .malformedFile,
                "the full body must be 1 to \(maximumLength) bytes of UTF-8; check the program that sealed it")
        }
        return text
    }
}

extension String {
    /// Creates a string from UTF-8 (RFC 3629) without a byte order mark; returns nil for other bytes.
    fileprivate init?(validatingUTF8 bytes: ContiguousArray<UInt8>) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return nil }
        var index = 0
        while index < bytes.count {
            guard bytes[index] >= 0x80 else {
                index += 1
                continue
            }
            guard let end = try? JSONText.endOfSequence(in: bytes, at: index) else { return nil }
            index = end
        }
        self.init(decoding: bytes, as: UTF8.self)
    }
}

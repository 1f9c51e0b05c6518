/// The key with which a receiver answers a message: answer id || answer key, the member `answer` of the sealed payload.
///
/// A secret, in memory that is wiped with the last copy of this value. (`Docs/FormatRecords.md`, Answers)
package struct AnswerKey: Sendable {
    static let idLength = 16
    static let keyLength = ChaCha20Poly1305.keyLength
    package static let length = idLength + keyLength

    /// How long after a message was sealed an answer counts, and a phone keeps the key: 31 days.
    package static let life = Interval.days(31)

    private static let member = "answer"

    private final class Storage: Sendable {
        let bytes: Ephemeral

        init(_ bytes: consuming Ephemeral) { self.bytes = bytes }
    }

    private let storage: Storage

    /// Copies both parts; the caller wipes the key.
    init(id: Bytes, key: Span<UInt8>) { storage = Storage(Ephemeral(id, key, [])) }

    /// Copies 48 bytes, which the caller wipes; returns nil for another length.
    package init?(bytes: Span<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        storage = Storage(Ephemeral(copying: bytes))
    }

    /// Calls `body` with id and key; its result must not contain a copy of the key.
    package func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try storage.bytes.withSpan(body)
    }

    /// The answer id, which is sent with the answer.
    package var id: Bytes { withBytes { Bytes(copying: $0.extracting(0..<Self.idLength)) } }

    /// Calls `body` with the key; its result must not contain a copy.
    func withKey<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try withBytes { (bytes) throws(E) in try body(bytes.extracting(Self.idLength..<Self.length)) }
    }
}

// MARK: Payload

extension AnswerKey {
    /// Reads an opened payload; returns nil if it has none, or a member of another form.
    init?(in payload: JSONValue) {
        guard let text = payload[PayloadKeys.reserved]?[Self.member]?.characters,
            let bytes = SecretBase64.unpaddedURL.decode(text.span)
        else { return nil }
        guard let key = bytes.withSpan({ AnswerKey(bytes: $0) }) else { return nil }
        self = key
    }

    /// Writes the member of a payload.
    func write(to json: inout JSONWriter) {
        let text = withBytes { SecretBase64.unpaddedURL.encode($0) }
        json.string(text.withSpan { String(decoding: Bytes(copying: $0), as: UTF8.self) }, for: Self.member)
    }
}

extension AnswerKey: CustomStringConvertible, CustomReflectable {
    /// Nothing secret is printed.
    package var description: String { "AnswerKey" }

    /// Nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

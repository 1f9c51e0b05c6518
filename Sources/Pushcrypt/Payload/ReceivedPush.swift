/// A payload as received from the relay: parsed, but not authenticated.
package struct ReceivedPush: Sendable {
    /// The longest push that is parsed, in bytes: far more than Apple delivers.
    package static let maximumLength = 1 << 16

    private let document: JSONDocument

    /// Parses the JSON of a push.
    ///
    /// - Throws: `malformedNotification`.
    package init(_ json: some Sequence<UInt8>) throws(OpenError) {
        do throws(JSONError) {
            document = try JSONDocument(parsing: ContiguousArray(json), maximumBytes: Self.maximumLength)
        } catch {
            throw OpenError(.malformedNotification, "the received push is not JSON: \(error)")
        }
        guard document.root.kind == .object else {
            throw OpenError(.malformedNotification, "the received push is not a JSON object")
        }
    }

    /// Returns the envelope in `ENCRYPTED_DATA`.
    ///
    /// - Throws: `notEncrypted`, `malformedEnvelope` or `unsupportedSuite`.
    package func envelope() throws(OpenError) -> Envelope {
        guard let text = document.root[PayloadKeys.encryptedData]?.characters else {
            throw .notEncrypted
        }
        return try Envelope(text: text.span)
    }

    /// Returns the envelope in `ENCRYPTED_DATA`, of any suite of the format, to be shown and not opened.
    package func inspectedEnvelope() throws(OpenError) -> Envelope {
        guard let text = document.root[PayloadKeys.encryptedData]?.characters else {
            throw .notEncrypted
        }
        return try Envelope(inspecting: text.span)
    }

    /// The fingerprint of the value of `ENCRYPTED_DATA`, whether it is an envelope or not; nil if it is not a string.
    package var fingerprint: EnvelopeFingerprint? { encryptedText.map(EnvelopeFingerprint.init(of:)) }

    private var encryptedText: String? { document.root[PayloadKeys.encryptedData]?.string }

    /// The length in the longest form that a client may re-encode the push to, in bytes.
    package var maximumReencodedLength: Int {
        JSONText.maximumReencodedLength(of: document.root.minified().span)
    }

    /// The payload as received.
    package var root: JSONValue { document.root }
}

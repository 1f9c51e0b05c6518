/// A payload that has passed all rules, so that it can be opened and shown after sealing.
///
/// (`Docs/Format.md`, Body; Apple's "Generating a remote notification" for the fields)
struct CheckedPayload {
    let document: JSONDocument
    let aps: JSONValue
    let hasSound: Bool
    let isContentAvailable: Bool

    /// Checks a payload; throws `malformedPayload`, `missingAPS`, `invalidField`, `nothingToShow` or `reservedKey`.
    init(_ bytes: ContiguousArray<UInt8>, for pushType: PushType) throws(SealError) {
        document = try Self.object(bytes)
        let root = document.root
        guard root[PayloadKeys.reserved] == nil else {
            throw SealError(
                .reservedKey,
                "the key \(PayloadKeys.reserved) at the top level is reserved for the format; rename yours, and pass attachments to the sealer separately from the payload"
            )
        }
        guard let aps = root[PayloadKeys.aps], aps.kind == .object else {
            throw SealError(.missingAPS, "the payload has no aps object; a push without one is never shown")
        }
        self.aps = aps
        let fields = APSFields(aps)
        if let fault = fields.faults.first {
            throw SealError(.invalidField, "\(fault.place) must be \(fault.expectation)")
        }
        guard fields.hasText || pushType != .alert else {
            throw SealError(
                .nothingToShow,
                "aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or send it unsealed"
            )
        }
        hasSound = fields.hasSound
        isContentAvailable = fields.isContentAvailable
    }

    /// Parses a payload that is sealed or sent as it is; throws `malformedPayload`, or `reservedKey` for a sealed one.
    static func object(_ bytes: ContiguousArray<UInt8>) throws(SealError) -> JSONDocument {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: bytes)
        } catch {
            throw SealError(.malformedPayload, "the payload is not JSON that the format accepts: \(error)")
        }
        guard document.root.kind == .object else {
            throw SealError(
                .malformedPayload, "the payload is not a JSON object; it begins with { and has an aps object")
        }
        guard document.root[PayloadKeys.encryptedData] == nil else {
            throw SealError(
                .reservedKey,
                "the payload already has \(PayloadKeys.encryptedData): seal the original payload, not a sealed one")
        }
        return document
    }
}

/// The top-level members of a payload that do not belong to the app.
package enum PayloadKeys {
    /// Apple's dictionary.
    package static let aps = "aps"
    /// The member with the envelope.
    package static let encryptedData = "ENCRYPTED_DATA"
    /// The member that is reserved for the format, inside a sealed payload: the keys of attachments and of a full body.
    package static let reserved = "pushcrypt"

    /// All of them.
    package static let all = [aps, encryptedData, reserved]
}

/// A payload that has passed every rule, so that what is sealed can be opened and shown.
///
/// (`Docs/Format.md`, Body; Apple's "Generating a remote notification" for the fields)
struct CheckedPayload {
    let document: JSONDocument
    let aps: JSONValue
    let hasSound: Bool
    let isContentAvailable: Bool

    /// Checks a payload; throws `malformedPayload`, `missingAPS`, `invalidField`, `nothingToShow` or `reservedKey`.
    init(_ bytes: ContiguousArray<UInt8>, for pushType: PushType) throws(SealError) {
        do throws(JSONError) {
            document = try JSONDocument(parsing: bytes)
        } catch {
            throw SealError(.malformedPayload, "the payload is not JSON as this format takes it: \(error)")
        }
        let root = document.root
        guard root.kind == .object else {
            throw SealError(
                .malformedPayload, "the payload is not a JSON object; it begins with { and has an aps object")
        }
        for name in [PayloadKeys.encryptedData, PayloadKeys.reserved] where root[name] != nil {
            throw SealError(
                .reservedKey,
                name == PayloadKeys.reserved
                    ? "the key \(name) at the top level is kept for the format; rename yours, and give attachments to the sealer apart from the payload (--attachment)"
                    : "the payload has \(name) already: seal the payload as it was before sealing")
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
                "aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or seal it as a background push"
            )
        }
        hasSound = fields.hasSound
        isContentAvailable = fields.isContentAvailable
    }
}

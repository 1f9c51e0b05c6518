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
        do throws(JSONError) {
            document = try JSONDocument(parsing: bytes)
        } catch {
            throw SealError(.malformedPayload, "the payload is not JSON that the format accepts: \(error)")
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
                    ? "the key \(name) at the top level is reserved for the format; rename yours, and pass attachments to the sealer separately from the payload"
                    : "the payload already has \(name): seal the original payload, not a sealed one")
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

/// Checks of payloads that are not being sealed.
package enum PayloadCheck {
    /// Throws for a payload that cannot be sealed for any device, even with these texts shortened: the errors of
    /// `CheckedPayload`, and `payloadTooLarge`.
    package static func refuseUnsealable(
        _ payload: ContiguousArray<UInt8>, for pushType: PushType, fitting texts: [AlertText] = []
    ) throws(SealError) {
        let minified = try CheckedPayload(payload, for: pushType).document.root.minified()
        let length = minified.count
        let budget = pushType.maximumPayloadLength
        guard length <= budget || PayloadFitter(minified, maximumLength: budget, shortening: texts) != nil else {
            throw .payloadTooLarge(length, budget: budget)
        }
    }

    /// Returns a payload that can be sent without sealing, without white space; throws the errors of `CheckedPayload`,
    /// and `pushTooLarge`.
    package static func sendable(
        _ payload: ContiguousArray<UInt8>, for pushType: PushType, isSentExactly: Bool
    ) throws(SealError) -> ContiguousArray<UInt8> {
        let json = try CheckedPayload(payload, for: pushType).document.root.minified()
        let limit = PushLimit(pushType: pushType, isSentExactly: isSentExactly, suite: .x25519)
        try limit.check(
            isSentExactly ? json.count : JSONText.maximumReencodedLength(of: json.span), fix: "shorten it by that much")
        return json
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

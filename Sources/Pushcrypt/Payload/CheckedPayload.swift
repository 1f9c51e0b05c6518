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

/// The rules for payloads where no message is sealed.
package enum PayloadCheck {
    /// Refuses what is sealed for no device, even with these texts shortened: throws as `CheckedPayload` does, and
    /// `payloadTooLarge`.
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

    /// Refuses what is not to be sent as it is, and gives the rest without white space: throws as `CheckedPayload` does,
    /// and `pushTooLarge`.
    package static func sendable(
        _ payload: ContiguousArray<UInt8>, for pushType: PushType, isSentExactly: Bool
    ) throws(SealError) -> ContiguousArray<UInt8> {
        let json = try CheckedPayload(payload, for: pushType).document.root.minified()
        let limit = PushLimit(pushType: pushType, isSentExactly: isSentExactly)
        try limit.check(
            isSentExactly ? json.count : JSONText.maximumReencodedLength(of: json.span), fix: "shorten it by that much")
        return json
    }
}

/// The members at the top level of a payload that are not the app's own.
package enum PayloadKeys {
    /// What Apple defines.
    package static let aps = "aps"
    /// What holds an envelope.
    package static let encryptedData = "ENCRYPTED_DATA"
    /// What this format keeps for itself inside a sealed payload; it holds the keys of attachments and of a full body.
    package static let reserved = "pushcrypt"

    /// All of them.
    package static let all = [aps, encryptedData, reserved]
}

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
        let length = isSentExactly ? json.count : WidestLength.of(json.span)
        let limit = pushType.maximumPushLength
        guard length <= limit else {
            throw .pushTooLarge(length, limit: limit, isSentExactly: isSentExactly, fix: "shorten it by that much")
        }
        return json
    }
}

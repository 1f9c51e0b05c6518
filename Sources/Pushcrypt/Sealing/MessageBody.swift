/// The body of one message, and its bucket. (`Docs/Format.md`, Body, Buckets, Size)
struct MessageBody {
    /// The certificate, then the minified payload, which contains the member `pushcrypt`.
    let bytes: ContiguousArray<UInt8>
    let bucket: Int
    let shortened: [AlertText: Int]

    /// Builds a body, and if necessary shortens texts as the message allows; throws `payloadTooLarge` or `pushTooLarge`.
    ///
    /// The limits leave room for a certificate even if there is none, so that the first rotation changes no limit.
    init(
        _ payload: CheckedPayload, _ reserved: ReservedMember, beside certificate: Certificate?,
        in clear: ClearPart, _ limit: PushLimit
    ) throws(SealError) {
        let (texts, member) = (reserved.message.fitting, reserved.json)
        var json = payload.document.root.minified()
        let taken = member.isEmpty ? 0 : member.count + 1
        if !texts.isEmpty, let room = Self.room(beside: clear, limit), json.count + taken > room,
            let fitted = PayloadFitter(json, maximumLength: room - taken, shortening: texts)
        {
            (json, shortened) = (fitted.payload, fitted.removed)
        } else {
            shortened = [:]
        }
        if !member.isEmpty {
            // Reopens the payload, a non-empty object, for one more member.
            json[json.count - 1] = UInt8(ascii: ",")
            json += member
            json.append(UInt8(ascii: "}"))
        }
        let largest = limit.pushType.largestBucket(limit.suite)
        func smallestBucket(for body: Int) -> Int? {
            Bucket.smallest(holding: InnerPlaintext.body + body, limit: largest, limit.suite)
        }
        bytes = (certificate?.bytes ?? []) + json
        guard let longest = smallestBucket(for: Certificate.length + json.count),
            let bucket = smallestBucket(for: bytes.count)
        else { throw Self.tooLarge(json.count, taken, limit) }
        try clear.checkLength(bucket: longest, limit)
        self.bucket = bucket
    }

    /// Returns the longest payload whose push Apple accepts, in bytes; nil if the clear part alone is too long.
    private static func room(beside clear: ClearPart, _ limit: PushLimit) -> Int? {
        let bucket = Bucket.all(limit.suite).last { bucket in
            bucket <= limit.pushType.largestBucket(limit.suite)
                && clear.length(bucket: bucket, limit.suite, isSentExactly: limit.isSentExactly)
                    <= limit.pushType.maximumPushLength
        }
        return bucket.map { $0 - InnerPlaintext.body - Certificate.length }
    }

    private static func tooLarge(_ length: Int, _ reserved: Int, _ limit: PushLimit) -> SealError {
        var reasons = limit.suite == .x25519 ? "" : "; the device has a post-quantum key, which leaves less room"
        if reserved > 0 {
            reasons +=
                "; \(reserved) of them are its attachments, sender, withdrawals and answer key; urls and names can be shorter"
        }
        return .payloadTooLarge(length, budget: limit.pushType.maximumPayloadLength(limit.suite), reasons: reasons)
    }
}

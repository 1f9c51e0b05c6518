/// The body of one message, and its bucket. (`Docs/Format.md`, Body, Buckets, Size)
struct MessageBody {
    /// The certificate, then the minified payload, which contains the member `pushcrypt`.
    let bytes: ContiguousArray<UInt8>
    let bucket: Int
    let shortened: [AlertText: Int]

    /// Builds a body, and shortens the texts in `fitting` if necessary; throws `payloadTooLarge` or `pushTooLarge`.
    ///
    /// The limits leave room for a certificate even if there is none, so that the first rotation changes no limit.
    init(
        _ payload: CheckedPayload, _ reserved: ReservedMember, beside certificate: Certificate?,
        fitting texts: [AlertText], in clear: ClearPart, _ limit: PushLimit
    ) throws(SealError) {
        var parts = Parts(certificate, reserved: reserved.json)
        parts.append(payload.document.root)
        let room = texts.isEmpty ? nil : Self.room(beside: clear, limit)
        if let room, parts.length > room,
            let fitted = PayloadFitter(
                payload.document.root.minified(), maximumLength: room - parts.reserved, shortening: texts)
        {
            parts.replacePayload(by: fitted.payload)
            shortened = fitted.removed
        } else {
            shortened = [:]
        }
        let largest = limit.pushType.largestBucket(limit.suite)
        func smallestBucket(for body: Int) -> Int? {
            Bucket.smallest(holding: InnerPlaintext.body + body, limit: largest, limit.suite)
        }
        guard let longest = smallestBucket(for: Certificate.length + parts.length),
            let bucket = smallestBucket(for: parts.bytes.count)
        else { throw parts.tooLarge(for: limit.pushType, limit.suite) }
        try clear.checkLength(bucket: longest, limit)
        self.bucket = bucket
        bytes = parts.bytes
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

    /// A body under construction, and the room that its parts take.
    private struct Parts {
        private(set) var bytes: ContiguousArray<UInt8> = []
        private let certificate: Int
        private let member: ContiguousArray<UInt8>

        /// The number of bytes of the payload with the member `pushcrypt`.
        var length: Int { bytes.count - certificate }
        /// The number of bytes for the member `pushcrypt`.
        var reserved: Int { member.isEmpty ? 0 : member.count + 1 }

        init(_ certificate: Certificate?, reserved: ContiguousArray<UInt8>) {
            if let certificate { bytes = certificate.bytes }
            self.certificate = bytes.count
            member = reserved
        }

        mutating func append(_ payload: JSONValue) {
            bytes.reserveCapacity(bytes.count + payload.range.count + reserved)
            payload.appendMinified(to: &bytes)
            appendReserved()
        }

        mutating func replacePayload(by payload: ContiguousArray<UInt8>) {
            bytes.removeLast(length)
            bytes.append(contentsOf: payload)
            appendReserved()
        }

        /// Reopens the payload, a non-empty object, for one more member.
        private mutating func appendReserved() {
            guard !member.isEmpty else { return }
            bytes[bytes.count - 1] = UInt8(ascii: ",")
            bytes.append(contentsOf: member)
            bytes.append(UInt8(ascii: "}"))
        }

        func tooLarge(for pushType: PushType, _ suite: CipherSuite) -> SealError {
            var reasons = suite == .x25519 ? "" : "; the device has a post-quantum key, which leaves less room"
            if reserved > 0 {
                reasons +=
                    "; \(reserved) of them are its attachments, sender, withdrawals and answer key; urls and names can be shorter"
            }
            return .payloadTooLarge(length, budget: pushType.maximumPayloadLength(suite), reasons: reasons)
        }
    }
}

/// The body of one message, and its bucket. (`Docs/Format.md`, Body, Buckets, Size)
struct MessageBody {
    /// The certificate, then the minified payload, which contains the member `pushcrypt`.
    let bytes: ContiguousArray<UInt8>
    let bucket: Int
    let shortened: [AlertText: Int]

    /// Builds a body, and shortens the texts in `fitting` if necessary; throws `payloadTooLarge` or `pushTooLarge`.
    init(
        _ payload: CheckedPayload, _ reserved: ReservedMember, beside certificate: Certificate?,
        fitting texts: [AlertText], in clear: ClearPart, _ limit: PushLimit
    ) throws(SealError) {
        var parts = Parts(certificate, reserved: reserved.json)
        parts.append(payload.document.root)
        let room = texts.isEmpty ? nil : Self.room(beside: clear, limit)
        if let room, parts.bytes.count > room,
            let fitted = PayloadFitter(
                payload.document.root.minified(), maximumLength: room - parts.certificate - parts.reserved,
                shortening: texts)
        {
            parts.replacePayload(by: fitted.payload)
            shortened = fitted.removed
        } else {
            shortened = [:]
        }
        guard
            let bucket = Bucket.smallest(
                holding: InnerPlaintext.body + parts.bytes.count, limit: limit.pushType.largestBucket(limit.suite),
                limit.suite)
        else { throw parts.tooLarge(for: limit.pushType, limit.suite) }
        try clear.checkLength(bucket: bucket, limit)
        self.bucket = bucket
        bytes = parts.bytes
    }

    /// Returns the longest body whose push Apple accepts, in bytes; nil if the clear part alone is too long.
    private static func room(beside clear: ClearPart, _ limit: PushLimit) -> Int? {
        let bucket = Bucket.all(limit.suite).last { bucket in
            bucket <= limit.pushType.largestBucket(limit.suite)
                && clear.length(bucket: bucket, limit.suite, isSentExactly: limit.isSentExactly)
                    <= limit.pushType.maximumPushLength
        }
        return bucket.map { $0 - InnerPlaintext.body }
    }

    /// A body under construction, and the room that its parts take.
    private struct Parts {
        private(set) var bytes: ContiguousArray<UInt8> = []
        /// The number of bytes for the certificate.
        let certificate: Int
        private let member: ContiguousArray<UInt8>

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
            bytes.removeLast(bytes.count - certificate)
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
            let length = bytes.count - certificate
            let budget = pushType.maximumPayloadLength(suite, besideCertificate: certificate > 0)
            var reasons = suite == .x25519 ? "" : "; the device has a post-quantum key, which leaves less room"
            if reserved > 0 {
                reasons +=
                    "; \(reserved) of them are its attachments, sender, withdrawals and answer key; urls and names can be shorter"
            }
            if certificate > 0 { reasons += "; the provider's certificate needs \(certificate) bytes" }
            return .payloadTooLarge(length, budget: budget, reasons: reasons)
        }
    }
}

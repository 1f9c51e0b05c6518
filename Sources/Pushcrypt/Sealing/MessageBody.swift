/// The body of one message, and its bucket. (`Docs/Format.md`, Body, Buckets, Size)
struct MessageBody {
    /// The announced statements, then the minified payload, which contains the references to sealed files.
    let bytes: ContiguousArray<UInt8>
    let bucket: Int
    let shortened: RemovedCharacters

    /// Builds a body, and shortens the texts in `fitting` if necessary; throws `payloadTooLarge` or `pushTooLarge`.
    init(
        _ payload: CheckedPayload, _ attachments: [AttachmentReference], _ fullBody: FullBody?,
        announcing statements: [RotationStatement], fitting texts: [AlertText], beside clear: ClearPart,
        _ limit: PushLimit
    ) throws(SealError) {
        var parts = Parts(statements, references: AttachmentList.member(attachments, fullBody))
        parts.append(payload.document.root)
        let room = texts.isEmpty ? nil : Self.room(beside: clear, limit)
        if let room, parts.bytes.count > room,
            let fitted = PayloadFitter(
                payload.document.root.minified(), maximumLength: room - parts.statements - parts.references,
                shortening: texts)
        {
            parts.replacePayload(by: fitted.payload)
            shortened = fitted.removed
        } else {
            shortened = RemovedCharacters()
        }
        guard
            let bucket = Bucket.smallest(
                holding: InnerPlaintext.body + parts.bytes.count, limit: limit.pushType.largestBucket)
        else { throw parts.tooLarge(for: limit.pushType) }
        try clear.checkLength(bucket: bucket, limit)
        self.bucket = bucket
        bytes = parts.bytes
    }

    /// Returns the longest body whose push Apple accepts, in bytes; nil if the clear part alone is too long.
    private static func room(beside clear: ClearPart, _ limit: PushLimit) -> Int? {
        let bucket = Bucket.all.last { bucket in
            bucket <= limit.pushType.largestBucket
                && clear.length(bucket: bucket, isSentExactly: limit.isSentExactly) <= limit.pushType.maximumPushLength
        }
        return bucket.map { $0 - InnerPlaintext.body }
    }

    /// A body under construction, and the room that its parts take.
    private struct Parts {
        private(set) var bytes: ContiguousArray<UInt8> = []
        let statements: Int
        private let member: ContiguousArray<UInt8>

        /// The number of bytes for the references.
        var references: Int { member.isEmpty ? 0 : member.count + 1 }

        init(_ announced: [RotationStatement], references: ContiguousArray<UInt8>) {
            if !announced.isEmpty {
                precondition(
                    announced.count <= RotationStatement.maximumPerMessage, "at most 4 statements fit into a message")
                bytes.append(UInt8(announced.count))
                for statement in announced { bytes.append(contentsOf: statement.bytes) }
            }
            statements = bytes.count
            member = references
        }

        mutating func append(_ payload: JSONValue) {
            bytes.reserveCapacity(bytes.count + payload.range.count + references)
            payload.appendMinified(to: &bytes)
            appendReferences()
        }

        mutating func replacePayload(by payload: ContiguousArray<UInt8>) {
            bytes.removeLast(bytes.count - statements)
            bytes.append(contentsOf: payload)
            appendReferences()
        }

        /// Reopens the payload, a non-empty object, for one more member.
        private mutating func appendReferences() {
            guard !member.isEmpty else { return }
            bytes[bytes.count - 1] = UInt8(ascii: ",")
            bytes.append(contentsOf: member)
            bytes.append(UInt8(ascii: "}"))
        }

        func tooLarge(for pushType: PushType) -> SealError {
            let length = bytes.count - statements
            let budget = pushType.maximumPayloadLength - statements
            var reasons = ""
            if references > 0 {
                reasons += "; \(references) of them are its attachments, whose urls and names can be shorter"
            }
            if statements > 0 {
                reasons += "; the rotation being announced needs \(statements) bytes until it ends"
            }
            return .payloadTooLarge(length, budget: budget, reasons: reasons)
        }
    }
}

extension PayloadLint {
    /// How long a push is, and what is left.
    package struct Sizes: Hashable, Sendable {
        /// The bytes of the JSON as it was given, from the first brace to the last.
        package let bytes: Int
        /// The bytes without white space between tokens.
        package let minifiedBytes: Int
        /// The bytes in the widest form that a client may write it in.
        package let widestBytes: Int
        /// The most bytes that Apple takes for this push type.
        package let limit: Int
        /// The length of the inner plaintext of the envelope; for a push that is not sealed, of the one it would get. Nil
        /// when there is none.
        package let bucket: Int?
        /// For a push that can be sealed: the bytes that could still be added, without white space, in the same bucket.
        package let leftInBucket: Int?
        /// For a push that can be sealed: the bytes that could still be added at all; below 0 when it is too long.
        package let leftToSeal: Int?

        /// What Apple would still take, in the widest form; below 0 when it would not take the push.
        package var left: Int { limit - widestBytes }
    }
}

extension LintFindings {
    /// Measures a push, and finds whether it is too long.
    mutating func measure(_ push: LintedPush, isSentExactly: Bool) -> PayloadLint.Sizes {
        let minified = push.root.minified()
        let type = push.type ?? .alert
        let limit = type.maximumPushLength
        let bytes = push.root.range.count
        let widest = WidestLength.of(minified.span)

        var bucket: Int?
        var leftInBucket: Int?
        var leftToSeal: Int?
        if let text = push.envelope?.string {
            bucket = (try? Envelope(text: text))?.innerLength
        } else if push.envelope == nil, let sealable = type.sealable {
            let inner = InnerPlaintext.body + minified.count
            bucket = Bucket.smallest(holding: inner, limit: sealable.largestBucket)
            leftInBucket = bucket.map { $0 - inner }
            let left = sealable.maximumPayloadLength - minified.count
            leftToSeal = left
            if left < 0 {
                add(
                    .error, .payloadTooLarge, at: "",
                    "has \(minified.count) bytes without white space, \(-left) more than can be sealed (\(sealable.maximumPayloadLength))",
                    fix: "shorten it by that much")
            }
        }
        // What is going to be sealed is sent in another form.
        if leftToSeal == nil { checkLength(bytes, widest, limit: limit, isSentExactly: isSentExactly) }
        return PayloadLint.Sizes(
            bytes: bytes, minifiedBytes: minified.count, widestBytes: widest, limit: limit, bucket: bucket,
            leftInBucket: leftInBucket, leftToSeal: leftToSeal)
    }

    private mutating func checkLength(_ bytes: Int, _ widest: Int, limit: Int, isSentExactly: Bool) {
        if bytes > limit {
            add(
                .error, .pushTooLarge, at: "", "has \(bytes) bytes, \(bytes - limit) more than Apple takes (\(limit))",
                fix: "shorten what stands in the clear")
        } else if widest > limit, !isSentExactly {
            add(
                .warning, .growsWhenRewritten, at: "",
                "a client that writes the JSON anew may make it \(widest) bytes long, \(widest - limit) more than Apple takes (\(limit))",
                fix: "shorten what stands in the clear, or see that these very bytes are sent (--exact)")
        }
    }
}

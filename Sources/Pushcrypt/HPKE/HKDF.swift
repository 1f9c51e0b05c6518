/// HKDF-SHA256 (RFC 5869), and its labeled variant in HPKE (RFC 9180, section 4).
enum HKDF {
    static let hashLength = HMACSHA256.tagLength
    static let maximumLength = 255 * hashLength

    /// HKDF-Extract with `ikm` fed in pieces.
    static func extract(salt: Span<UInt8>, ikm: (borrowing HMACSHA256) -> Void) -> Ephemeral {
        // A missing salt is a string of zeros (RFC 5869, section 2.2). HMAC pads its key with zeros, so an empty key is
        // the same.
        let hmac = HMACSHA256(key: salt)
        ikm(hmac)
        return hmac.finish()
    }

    /// HKDF-Expand with `info` fed in pieces; `length` is 1…8160.
    static func expand(
        prk: Span<UInt8>, length: Int, info: (borrowing HMACSHA256) -> Void
    ) throws(SodiumRefusal) -> Ephemeral {
        try expand(HMACSHA256(key: prk), length: length, info: info)
    }

    /// HKDF-Expand with a pseudorandom key that is in the state already.
    private static func expand(
        _ keyed: consuming HMACSHA256, length: Int, info: (borrowing HMACSHA256) -> Void
    ) throws(SodiumRefusal) -> Ephemeral {
        guard (1...maximumLength).contains(length) else { throw SodiumRefusal() }
        if length <= hashLength { return block(1, after: nil, keyed, info: info, length: length) }
        var output = Ephemeral(count: length)
        var previous: Ephemeral? = nil
        var written = 0
        var counter: UInt8 = 1
        while written < length {
            let next = block(counter, after: previous.take(), HMACSHA256(copying: keyed), info: info)
            let count = min(hashLength, length - written)
            next.withSpan { next in
                output.withMutableBytes { $0.write(next.extracting(0..<count), at: written) }
            }
            written += count
            counter &+= 1
            previous = consume next
        }
        return output
    }

    private static func block(
        _ counter: UInt8, after previous: consuming Ephemeral?, _ hmac: consuming HMACSHA256,
        info: (borrowing HMACSHA256) -> Void, length: Int = hashLength
    ) -> Ephemeral {
        if let previous { previous.withSpan { hmac.update($0) } }
        info(hmac)
        hmac.update(counter)
        return hmac.withTag { Ephemeral(copying: $0.extracting(0..<length)) }
    }

    /// LabeledExtract (RFC 9180, section 4).
    static func labeledExtract(
        salt: Span<UInt8>, suite: Span<UInt8>, label: StaticString, ikm: Span<UInt8>
    ) -> Ephemeral {
        extract(salt: salt) { hmac in
            hmac.update("HPKE-v1")
            hmac.update(suite)
            hmac.update(label)
            hmac.update(ikm)
        }
    }

    /// LabeledExtract with an empty salt, up to its input: the same in every message.
    static func labeledExtractStart(suite: Span<UInt8>, label: StaticString) -> HMACSHA256.Start {
        let empty = ContiguousArray<UInt8>()
        return HMACSHA256.Start(key: empty.span) { hmac in
            hmac.update("HPKE-v1")
            hmac.update(suite)
            hmac.update(label)
        }
    }

    /// LabeledExtract with an empty salt, up to its end: the tag is the pseudorandom key.
    static func labeledExtract(_ start: HMACSHA256.Start, ikm: Span<UInt8>) -> HMACSHA256 {
        let hmac = HMACSHA256(start)
        hmac.update(ikm)
        return hmac
    }

    /// One use of LabeledExpand (RFC 9180, section 4): its length, 1…8160, and what comes before its info.
    struct LabeledExpand: Sendable {
        private let length: Int
        private let prefix: ContiguousArray<UInt8>

        init(suite: ContiguousArray<UInt8>, label: StaticString, length: Int) {
            self.length = length
            var prefix: ContiguousArray<UInt8> = [
                UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length),
            ]
            prefix.append("HPKE-v1")
            prefix.append(contentsOf: suite)
            prefix.append(label)
            self.prefix = prefix
        }

        func callAsFunction(prk: Span<UInt8>, info: Span<UInt8>) throws(SodiumRefusal) -> Ephemeral {
            try self(HMACSHA256(key: prk), info: info)
        }

        /// The same with an HMAC that has the pseudorandom key as its key.
        func callAsFunction(_ keyed: consuming HMACSHA256, info: Span<UInt8>) throws(SodiumRefusal) -> Ephemeral {
            try HKDF.expand(keyed, length: length) { hmac in
                hmac.update(prefix.span)
                hmac.update(info)
            }
        }
    }
}

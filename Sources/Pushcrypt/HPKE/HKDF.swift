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
        guard (1...maximumLength).contains(length) else { throw SodiumRefusal() }
        if length == hashLength { return block(1, after: nil, prk: prk, info: info) }
        var output = Ephemeral(count: length)
        var previous: Ephemeral? = nil
        var written = 0
        var counter: UInt8 = 1
        while written < length {
            let next = block(counter, after: previous.take(), prk: prk, info: info)
            let count = min(hashLength, length - written)
            next.withSpan { next in
                output.withMutableSpan { $0.write(next.extracting(0..<count), at: written) }
            }
            written += count
            counter &+= 1
            previous = consume next
        }
        return output
    }

    private static func block(
        _ counter: UInt8, after previous: consuming Ephemeral?, prk: Span<UInt8>, info: (borrowing HMACSHA256) -> Void
    ) -> Ephemeral {
        let hmac = HMACSHA256(key: prk)
        if let previous { previous.withSpan { hmac.update($0) } }
        info(hmac)
        let counter: ContiguousArray<UInt8> = [counter]
        hmac.update(counter.span)
        return hmac.finish()
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

    /// LabeledExpand (RFC 9180, section 4); `length` is 1…8160.
    static func labeledExpand(
        prk: Span<UInt8>, suite: Span<UInt8>, label: StaticString, info: Span<UInt8>, length: Int
    ) throws(SodiumRefusal) -> Ephemeral {
        try expand(prk: prk, length: length) { hmac in
            let prefix: ContiguousArray<UInt8> = [
                UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length),
            ]
            hmac.update(prefix.span)
            hmac.update("HPKE-v1")
            hmac.update(suite)
            hmac.update(label)
            hmac.update(info)
        }
    }
}

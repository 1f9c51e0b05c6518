/// A note that a device writes for itself: HPKE base mode to its own public key, one message (RFC 9180, section 6.1).
///
/// Anyone with the public key can write a note, so it is confidential but proves nothing about its author. Notes are
/// never sent and are not part of the format.
package enum SealedNote {
    /// The number of bytes added to the plaintext: KEM share and tag.
    package static func overhead(_ suite: CipherSuite) -> Int { suite.encLength + ChaCha20Poly1305.tagLength }

    /// Seals to a device's key, under a label for this use of the key.
    package static func seal(
        _ plaintext: Span<UInt8>, to key: DevicePublicKey, label: StaticString, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> ContiguousArray<UInt8> {
        let encapsulation = try Ephemeral(randomCount: 32).withSpan { (ikm) throws(SodiumRefusal) in
            try KEM.encapsulate(to: key, ikm: ikm)
        }
        let info = info(label)
        let context = try HPKEContext(.of(key.suite), sharedSecret: encapsulation.sharedSecret, info: info.span)
        var note = encapsulation.enc
        note.reserveCapacity(overhead(key.suite) + plaintext.count)
        try context.seal(plaintext, authenticating: data, appendingTo: &note)
        return note
    }

    /// Opens a note that was sealed to a device's key under the same label; throws for anything else.
    package static func open(
        _ note: Span<UInt8>, with key: DeviceKey, label: StaticString, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> ContiguousArray<UInt8> {
        try openSecret(note, with: key, label: label, authenticating: data).withSpan { ContiguousArray(copying: $0) }
    }

    /// Opens a note whose content stays secret.
    package static func openSecret(
        _ note: Span<UInt8>, with key: DeviceKey, label: StaticString, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        let suite = key.publicKey.suite
        guard note.count >= overhead(suite) else { throw SodiumRefusal() }
        let sharedSecret = try KEM.decapsulate(note.extracting(0..<suite.encLength), with: key)
        let info = info(label)
        let context = try HPKEContext(.of(suite), sharedSecret: sharedSecret, info: info.span)
        return try context.open(note.extracting(suite.encLength..<note.count), authenticating: data)
    }

    /// Returns the label with a zero byte at the end, like every label, so that none is a prefix of another.
    private static func info(_ label: StaticString) -> ContiguousArray<UInt8> {
        var info = ContiguousArray<UInt8>()
        info.append(label)
        info.append(0x00)
        return info
    }
}

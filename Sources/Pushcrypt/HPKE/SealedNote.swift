/// What a device writes down for itself alone: HPKE base mode to its own public key, one message (RFC 9180, section 6.1).
///
/// Whoever has the public key can write one: it keeps a secret, and proves nothing about who wrote it. Never sent anywhere,
/// and no part of the format.
package enum SealedNote {
    /// The bytes around the plaintext: KEM share and tag.
    package static let overhead = DHKEM.encLength + ChaCha20Poly1305.tagLength

    /// Seals to a device's key, under a label that tells this use of the key from every other.
    package static func seal(
        _ plaintext: Span<UInt8>, to key: DevicePublicKey, label: StaticString, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> ContiguousArray<UInt8> {
        let ephemeral = try Ephemeral(randomCount: DHKEM.secretLength).withSpan { (ikm) throws(SodiumRefusal) in
            try DHKEM.deriveKeyPair(ikm: ikm)
        }
        let encapsulation = try DHKEM.encapsulate(to: key.bytes.span, ephemeral: ephemeral)
        let info = info(label)
        let context = try HPKEContext(sharedSecret: encapsulation.sharedSecret, info: info.span)
        var note = encapsulation.enc
        note.reserveCapacity(overhead + plaintext.count)
        try context.seal(plaintext, authenticating: data, appendingTo: &note)
        return note
    }

    /// Opens what was sealed to a device's key under the same label; refused for anything else.
    package static func open(
        _ note: Span<UInt8>, with key: DeviceKey, label: StaticString, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> ContiguousArray<UInt8> {
        guard note.count >= overhead else { throw SodiumRefusal() }
        let publicKey = key.publicKey.bytes
        let sharedSecret = try key.withScalar { (scalar) throws(SodiumRefusal) in
            try DHKEM.decapsulate(
                note.extracting(0..<DHKEM.encLength), secret: scalar, publicKey: publicKey.span)
        }
        let info = info(label)
        let context = try HPKEContext(sharedSecret: sharedSecret, info: info.span)
        let plaintext = try context.open(note.extracting(DHKEM.encLength..<note.count), authenticating: data)
        return plaintext.withSpan { ContiguousArray(copying: $0) }
    }

    /// Ends in a zero byte, as every label does, so that none begins another.
    private static func info(_ label: StaticString) -> ContiguousArray<UInt8> {
        var info = ContiguousArray<UInt8>()
        info.append(label)
        info.append(0x00)
        return info
    }
}

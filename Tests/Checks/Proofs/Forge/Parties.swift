import Pushcrypt

/// A device, with its secret in the open.
struct ForgedDevice {
    let scalar: [UInt8]
    let publicKey: [UInt8]
    let id: [UInt8]

    init(scalar: [UInt8]) {
        self.scalar = scalar
        publicKey = Primitives.x25519Base(scalar)
        id = keyID(0x01, publicKey)
    }

    /// As the receiver that is tested has it.
    func key() throws -> DeviceKey { try DeviceKey(scalar: Bytes(scalar).span) }
}

/// A sender, with its secret in the open.
struct ForgedSender {
    let seed: [UInt8]
    let secretKey: [UInt8]
    let publicKey: [UInt8]
    let id: [UInt8]

    init(seed: [UInt8]) {
        self.seed = seed
        secretKey = Primitives.ed25519(seed: seed)
        publicKey = Array(secretKey[32...])
        id = keyID(0x02, publicKey)
    }

    func key() throws -> SenderKey { try SenderKey(seed: Bytes(seed).span) }

    /// As the receiver that is tested pins it.
    func trusted() throws -> SenderPublicKey { try SenderPublicKey(bytes: Bytes(publicKey).span) }
}

/// The first four bytes that name a key. (`Docs/Format.md`, Key ids)
func keyID(_ type: UInt8, _ publicKey: [UInt8]) -> [UInt8] {
    Array(Primitives.sha256(Array("pushcrypt/1 key id\0".utf8) + [type] + publicKey)[..<4])
}

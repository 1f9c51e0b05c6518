import Glibc
import Pushcrypt

/// A call of the library, and the secrets that it must not leave on the stack.
struct Case {
    let name: String
    let secrets: [Secret]
    let call: () throws -> Void

    /// A secret, or what is made of it.
    struct Secret {
        let name: String
        let bytes: [UInt8]

        /// Either half of a secret counts.
        func stands(in memory: [UInt8]) -> Bool {
            let half = bytes.count / 2
            return [bytes[..<half], bytes[half...]].contains { part in
                guard let first = part.first else { return false }
                return memory.indices.dropLast(part.count - 1).contains {
                    memory[$0] == first && memory[$0..<$0 + part.count].elementsEqual(part)
                }
            }
        }
    }

    static func all() throws -> [Case] {
        let (scalar, seed, store, passphrase) = (random(32), random(32), random(32), random(24))
        let (device, provider) = (try DeviceKey(scalar: scalar.span), try ProviderKey(seed: seed.span))
        let topic = try Topic("com.example.app")
        let now = Timestamp(milliseconds: 1_790_000_000_000)
        let payload = #"{"aps":{"alert":"x"}}"#.utf8
        let sealer = Sealer(provider: provider, topic: topic)
        let envelope = try sealer.seal(Sealer.Message(payload), to: device.publicKey, at: now).envelope
        let opener = Opener(topic: topic, deviceKeys: [device], trust: ProviderTrust(pinned: [provider.publicKey]))
        let storeKey = SecretBytes(copying: store.span)
        let cost = StoreKDF.Cost(passes: 1, memory: 64 << 10)
        let ofDevice = secrets(scalar: Array(scalar))
        let ofProvider = secrets(seed: Array(seed))
        let ofMessage = try secrets(of: envelope, device, scalar: Array(scalar), topic: "com.example.app")
        return [
            Case(name: "making a device's key", secrets: ofDevice) { _ = try DeviceKey(scalar: scalar.span) },
            Case(name: "making a provider's key", secrets: ofProvider) { _ = try ProviderKey(seed: seed.span) },
            Case(name: "signing", secrets: ofProvider) { _ = provider.signature(of: scalar.span) },
            Case(name: "sealing", secrets: ofProvider) {
                _ = try sealer.seal(Sealer.Message(payload), to: device.publicKey, at: now)
            },
            Case(name: "opening", secrets: ofDevice + ofMessage) { _ = try opener.open(envelope, at: now) },
            Case(
                name: "deriving a store's key",
                secrets: [Secret(name: "the passphrase", bytes: Array(passphrase))]
            ) {
                guard let cost else { return }
                _ = try StoreKDF.key(passphrase: passphrase.span, salt: Bytes(repeating: 1, count: 16).span, cost: cost)
                    .count
            },
            Case(
                name: "deriving a subkey",
                secrets: [
                    Secret(name: "the store key", bytes: Array(store)),
                    Secret(name: "the subkey", bytes: Derived.subkey(of: Array(store))),
                ]
            ) { _ = StoreKDF.subkey(1, context: "pcstore1", of: storeKey).count },
        ]
    }

    private static func random(_ count: Int) -> Bytes { Bytes((0..<count).map { _ in UInt8.random(in: 0...255) }) }

    private static func secrets(scalar: [UInt8]) -> [Secret] {
        let clamped = scalar.clamped
        return [
            Secret(name: "the scalar", bytes: scalar), Secret(name: "the clamped scalar", bytes: clamped),
            Secret(name: "digits of the scalar", bytes: clamped.signedDigits),
        ]
    }

    private static func secrets(seed: [UInt8]) -> [Secret] {
        let expanded = Derived.sha512(seed)
        let scalar = Array(expanded[..<32]).clamped
        return [
            Secret(name: "the seed", bytes: seed), Secret(name: "the signing scalar", bytes: scalar),
            Secret(name: "digits of the signing scalar", bytes: scalar.signedDigits),
            Secret(name: "the signing prefix", bytes: Array(expanded[32...])),
            Secret(name: "the hedge key", bytes: Derived.hmac(seed, Array("pushcrypt/1 hedge\0".utf8))),
        ]
    }

    private static func secrets(
        of envelope: Envelope, _ device: DeviceKey, scalar: [UInt8], topic: String
    ) throws -> [Secret] {
        let enc = Array(envelope.enc)
        guard let point = Derived.x25519(scalar, enc) else { throw Failure("a weak share") }
        let key = Derived.messageKey(
            point, enc: enc, recipient: Array(device.publicKey.bytes), header: Array(envelope.bytes[..<5]),
            topic: topic)
        // Or the search would be for another key.
        guard Derived.opens(Array(envelope.bytes[37...]), key: key.key, nonce: key.nonce) else {
            throw Failure("the message key is not that of the envelope")
        }
        return [
            Secret(name: "the Diffie-Hellman result", bytes: point), Secret(name: "the message key", bytes: key.key),
        ]
    }
}

extension [UInt8] {
    fileprivate var clamped: [UInt8] {
        var scalar = self
        scalar[0] &= 248
        scalar[31] = scalar[31] & 127 | 64
        return scalar
    }

    /// The 64 digits, -8 to 8, with which libsodium multiplies the base point.
    fileprivate var signedDigits: [UInt8] {
        var digits = flatMap { [Int($0 & 15), Int($0 >> 4)] }
        for index in 0..<63 {
            let carry = (digits[index] + 8) >> 4
            digits[index] -= carry << 4
            digits[index + 1] += carry
        }
        return digits.map { UInt8(truncatingIfNeeded: $0) }
    }
}

/// The findings, or the reason why a case could not be tried.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) { description = what }
}

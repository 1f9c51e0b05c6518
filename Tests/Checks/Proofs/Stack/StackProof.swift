import CSodium
import Glibc
import Pushcrypt

/// What the stack still holds when the library has returned: the bytes below the caller's frame, which the next calls will overwrite in
/// part, or never.
enum StackProof {
    /// How much of the stack is checked, from the caller's frame on downwards.
    private static let depth = 256 << 10

    private static let topic = "com.example.app"
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)

    /// A secret, or what is made of it.
    private struct Needle {
        let name: String
        let bytes: [UInt8]
    }

    /// What a call leaves, and what must not be in it.
    private struct Case {
        let name: String
        let needles: [Needle]
        let call: () throws -> Void
    }

    static func run(seed: UInt64) throws {
        let stack = try OwnStack(depth: depth)
        try stack.checkItself()
        let cases = try Self.cases(seed: seed)
        var faults: [String] = []
        for one in cases {
            // The first call has the linker look for functions; the second is as all others.
            for time in ["first", "second"] {
                let left = try stack.left(by: one.call)
                for needle in one.needles where contains(left, needle.bytes) {
                    faults.append("after \(one.name) for the \(time) time the stack holds \(needle.name)")
                }
            }
        }
        guard faults.isEmpty else {
            throw Disproof(faults.joined(separator: "\n"), again: "stack", seed: seed)
        }
        print("stack: \(cases.count) calls leave none of \(cases.map(\.needles.count).reduce(0, +)) secrets on it")
    }

    // MARK: Cases

    private static func cases(seed: UInt64) throws -> [Case] {
        var numbers = Numbers(seed: seed)
        let device = ForgedDevice(scalar: numbers.bytes(32))
        let sender = ForgedSender(seed: numbers.bytes(32))
        let (deviceKey, senderKey) = (try device.key(), try sender.key())
        let opener = Opener(
            topic: try Topic(topic), deviceKeys: [deviceKey], trust: SenderTrust(pinned: [try sender.trusted()]))
        let forgery = Forgery(
            to: device, from: sender, topic: topic, body: Array(#"{"aps":{"alert":"x"}}"#.utf8), bucket: 256,
            sentAt: now.milliseconds, ephemeral: numbers.bytes(32))
        let bytes = Bytes(forgery.text())
        let envelope = try Envelope(text: bytes.span)
        let store = numbers.bytes(32)
        let storeKey = SecretBytes(copying: Bytes(store).span)
        let scalar = Bytes(device.scalar)
        let seedBytes = Bytes(sender.seed)
        let sealer = Sealer(sender: senderKey, topic: try Topic(topic))
        let passphrase = Bytes(numbers.bytes(24))
        let cost = StoreKDF.Cost(passes: 1, memory: 64 << 10)
        return [
            Case(name: "making a device's key", needles: Self.needles(device)) {
                _ = try DeviceKey(scalar: scalar.span)
            },
            Case(name: "making a sender's key", needles: Self.needles(sender)) {
                _ = try SenderKey(seed: seedBytes.span)
            },
            Case(name: "signing", needles: Self.needles(sender)) { _ = senderKey.sign([scalar]) },
            Case(name: "sealing", needles: Self.needles(sender)) {
                _ = try sealer.seal(#"{"aps":{"alert":"x"}}"#.utf8, to: deviceKey.publicKey, at: now)
            },
            Case(name: "opening", needles: Self.needles(device) + (try Self.needles(forgery, device))) {
                _ = try opener.open(envelope, at: now)
            },
            Case(name: "deriving a store's key", needles: [Needle(name: "the passphrase", bytes: Array(passphrase))]) {
                guard let cost else { return }
                _ = try StoreKDF.key(passphrase: passphrase.span, salt: Bytes(repeating: 1, count: 16).span, cost: cost)
                    .count
            },
            Case(
                name: "deriving a subkey",
                needles: [
                    Needle(name: "the store key", bytes: store), Needle(name: "the subkey", bytes: subkey(of: store)),
                ]
            ) { _ = StoreKDF.subkey(1, context: "pcstore1", of: storeKey).count },
        ]
    }

    private static func needles(_ device: ForgedDevice) -> [Needle] {
        let clamped = device.scalar.clamped
        return [
            Needle(name: "the scalar", bytes: device.scalar), Needle(name: "the clamped scalar", bytes: clamped),
            Needle(name: "digits of the scalar", bytes: clamped.signedDigits),
        ]
    }

    private static func needles(_ sender: ForgedSender) -> [Needle] {
        let expanded = Primitives.sha512(sender.seed)
        let scalar = Array(expanded[..<32]).clamped
        return [
            Needle(name: "the seed", bytes: sender.seed), Needle(name: "the signing scalar", bytes: scalar),
            Needle(name: "digits of the signing scalar", bytes: scalar.signedDigits),
            Needle(name: "the signing prefix", bytes: Array(expanded[32...])),
            Needle(name: "the hedge key", bytes: Primitives.hmac(sender.seed, Array("pushcrypt/1 hedge\0".utf8))),
        ]
    }

    private static func needles(_ forgery: Forgery, _ device: ForgedDevice) throws -> [Needle] {
        let enc = Primitives.x25519Base(forgery.ephemeral)
        guard let point = Primitives.x25519(device.scalar, enc) else { throw Misuse("a weak share") }
        let keys = MessageKeys(sharedPoint: point, enc: enc, forgery.info)
        return [
            Needle(name: "the Diffie-Hellman result", bytes: point), Needle(name: "the message key", bytes: keys.key),
        ]
    }

    private static func subkey(of key: [UInt8]) -> [UInt8] {
        var subkey = [UInt8](repeating: 0, count: 32)
        unsafe crypto_kdf_derive_from_key(&subkey, 32, 1, "pcstore1", key)
        return subkey
    }

    // MARK: Search

    /// Either half of a secret counts.
    private static func contains(_ memory: [UInt8], _ secret: [UInt8]) -> Bool {
        let half = secret.count / 2
        return [secret[..<half], secret[half...]].contains { needle in
            guard let first = needle.first else { return false }
            return memory.indices.dropLast(needle.count - 1).contains {
                memory[$0] == first && memory[$0..<$0 + needle.count].elementsEqual(needle)
            }
        }
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

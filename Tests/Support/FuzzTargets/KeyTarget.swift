@testable import Pushcrypt

/// The text of keys: what is accepted has one text, is of one kind, and is a key that may be used.
///
/// Input: what it is made of and for which kind, then the text, its symbols, or the bytes of a key. The harness writes the
/// checksum for the last two, which no mutation would find.
struct KeyTarget: FuzzTarget {
    static let name = "keys"

    private static let prefixes = ["pcr", "pcs", "PCR-SECRET-", "PCS-SECRET-"]
    private static let postQuantumPrefixes = ["pcrx", "PCRX-SECRET-"]
    /// A public key of suite 2 that every build takes: coefficients of zero, and the base point.
    private static let postQuantum = Bytes(repeating: 0, count: 1184) + [9] + Bytes(repeating: 0, count: 31)
    private static let newline = UInt8(ascii: "\n")

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let form = choices.byte()
        let isPostQuantum = form & 0xe0 == 0x20
        let isSigning = form & 0xe0 == 0x40
        let prefix =
            isPostQuantum
            ? Self.postQuantumPrefixes[Int(form & 1)] : isSigning ? "PCK-SECRET-" : Self.prefixes[Int(form & 3)]
        func bytes() -> Bytes {
            guard prefix == "pcrx" else { return choices.bytes(32) }
            var key = Self.postQuantum
            key.edit(&choices)
            return key
        }
        let text: Bytes
        switch form >> 2 & 3 {
        case 0: text = choices.rest()
        case 1: text = KeyText.text(prefix, symbols: Bytes(choices.rest().prefix(200).map { $0 & 31 }))
        case 2: text = KeyText.text(prefix, symbols: KeyText.symbols(of: bytes()))
        default:
            var edited = KeyText.text(prefix, symbols: KeyText.symbols(of: bytes()))
            edited[choices.number(below: edited.count)] = choices.byte()
            text = edited
        }
        check(form & 16 == 0 ? text : text + [Self.newline])
    }

    private func check(_ text: Bytes) {
        let accepted = [
            canonical(text) { (text) throws(KeyError) in Bytes(try self.devicePublic(text).utf8) },
            canonical(text) { (text) throws(KeyError) in Bytes(try self.providerPublic(text).utf8) },
            canonical(text) { (text) throws(KeyError) in
                try DeviceKey(text: text.span).withText { Bytes(copying: $0) }
            },
            canonical(text) { (text) throws(KeyError) in
                try ProviderKey(text: text.span).withText { Bytes(copying: $0) }
            },
            canonical(text) { (text) throws(KeyError) in
                try SigningKey(text: text.span).withText { Bytes(copying: $0) }
            },
        ]
        require(accepted.count { $0 } <= 1, "keys: a text is that of one kind of key")
    }

    /// Reads a text, and requires of one that is accepted that it is what the key is written as.
    private func canonical(_ text: Bytes, _ read: (Bytes) throws(KeyError) -> Bytes) -> Bool {
        do throws(KeyError) {
            let written = try read(text)
            require(text == written || text == written + [Self.newline], "keys: a key has one text")
            return true
        } catch {
            let secret = Bytes(text.dropFirst(16).prefix(12))
            // The letters of a secret key; what an error says of the sorts of keys has others too.
            let isSecret = secret.count == 12 && secret.allSatisfy { $0.isLetterOrDigit && $0 < 0x60 }
            require(!isSecret || !Bytes(error.description.utf8).contains(secret), "keys: an error quotes no key")
            return false
        }
    }

    private func devicePublic(_ text: Bytes) throws(KeyError) -> String {
        let key: DevicePublicKey
        do throws(KeyError) {
            key = try DevicePublicKey(text: String(decoding: text, as: UTF8.self))
        } catch {
            if error.code == .weakKey {
                require(!Self.isUsable(KeyText.bytes(of: text)), "keys: a device's key that is called weak is weak")
            }
            throw error
        }
        require(Self.isUsable(key.bytes), "keys: an accepted key gives a secret that not everybody knows")
        if key.suite == .xwing, CipherSuite.xwing.isSupported {
            let random = Bytes(repeating: 1, count: XWing.randomnessLength)
            let bytes = key.bytes
            require(
                (try? XWing.encapsulate(to: bytes.span, randomness: random.span)) != nil,
                "keys: an accepted key can be sealed to")
        }
        return key.description
    }

    /// Whether libsodium takes the X25519 key, or X-Wing's half of it, as canonical or not, and ML-KEM's coefficients are below q.
    private static func isUsable(_ key: Bytes) -> Bool {
        let half = Bytes(key.suffix(32))
        let scalar = KnownKeys.deviceScalar
        guard isCanonical(half), (try? X25519.sharedSecret(scalar: scalar.span, publicKey: half.span)) != nil else {
            return false
        }
        // Bit by bit, unlike the product.
        let bits = key.dropLast(64).flatMap { byte in (0..<8).map { Int(byte >> UInt8($0) & 1) } }
        return stride(from: 0, to: bits.count, by: 12).allSatisfy { start in
            (0..<12).reduce(0) { $0 + bits[start + $1] << $1 } < 3329
        }
    }

    private static func isCanonical(_ point: Bytes) -> Bool {
        let prime = [0xed] + Bytes(repeating: 0xff, count: 30) + [0x7f]
        return point.reversed().lexicographicallyPrecedes(prime.reversed())
    }

    private func providerPublic(_ text: Bytes) throws(KeyError) -> String {
        let key: ProviderPublicKey
        do throws(KeyError) {
            key = try ProviderPublicKey(text: String(decoding: text, as: UTF8.self))
        } catch {
            require(
                error.code != .weakKey || !Ed25519Point.isUsable(KeyText.bytes(of: text)),
                "keys: a provider's key that is called weak is weak")
            throw error
        }
        require(Ed25519Point.isUsable(key.bytes), "keys: an accepted provider's key is no weak point")
        return key.description
    }
}

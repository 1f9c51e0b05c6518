import FuzzHarness

@testable import Pushcrypt

/// The text of keys: what is accepted has one text, is of one kind, and is a key that may be used.
///
/// Input: what it is made of and for which kind, then the text, its symbols, or the bytes of a key. The harness writes the
/// checksum for the last two, which no mutation would find.
struct KeyTarget: FuzzTarget {
    static let name = "keys"

    private static let prefixes = ["pcr", "pcs", "PCR-SECRET-", "PCS-SECRET-"]
    private static let newline = UInt8(ascii: "\n")

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let form = choices.byte()
        let prefix = Self.prefixes[Int(form & 3)]
        let text: Bytes
        switch form >> 2 & 3 {
        case 0: text = choices.rest()
        case 1: text = KeyText.text(prefix, symbols: Bytes(choices.rest().prefix(200).map { $0 & 31 }))
        case 2: text = KeyText.text(prefix, symbols: KeyText.symbols(of: choices.bytes(32)))
        default:
            var edited = KeyText.text(prefix, symbols: KeyText.symbols(of: choices.bytes(32)))
            edited[choices.number(below: edited.count)] = choices.byte()
            text = edited
        }
        check(form & 16 == 0 ? text : text + [Self.newline])
    }

    private func check(_ text: Bytes) {
        let accepted = [
            canonical(text) { (text) throws(KeyError) in Bytes(try self.devicePublic(text).utf8) },
            canonical(text) { (text) throws(KeyError) in Bytes(try self.senderPublic(text).utf8) },
            canonical(text) { (text) throws(KeyError) in
                try DeviceKey(text: text.span).withText { Bytes(copying: $0) }
            },
            canonical(text) { (text) throws(KeyError) in
                try SenderKey(text: text.span).withText { Bytes(copying: $0) }
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
        let key = try DevicePublicKey(text: String(decoding: text, as: UTF8.self))
        let scalar = KnownKeys.deviceScalar
        require(
            (try? X25519.sharedSecret(scalar: scalar.span, publicKey: key.bytes.span)) != nil,
            "keys: an accepted key gives a secret that not everybody knows")
        return key.description
    }

    private func senderPublic(_ text: Bytes) throws(KeyError) -> String {
        let key: SenderPublicKey
        do throws(KeyError) {
            key = try SenderPublicKey(text: String(decoding: text, as: UTF8.self))
        } catch {
            require(
                error.code != .weakKey || !Ed25519Point.isUsable(KeyText.bytes(of: text)),
                "keys: a sender's key that is called weak is weak")
            throw error
        }
        require(Ed25519Point.isUsable(key.bytes), "keys: an accepted sender's key is no weak point")
        return key.description
    }
}

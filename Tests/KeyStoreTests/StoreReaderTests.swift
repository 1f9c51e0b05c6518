import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Somebody has read all of a server's store, its backup and its export. Nothing in them lets him change a device: the only secret
/// by which a record counts without a session never leaves the phone.
struct StoreReaderTests {
    private let scratch: Scratch
    private let store: SQLiteKeyStore
    private let phone: PostingPhone
    private let pairing: PairingCode

    /// A store with a passphrase, and one of everything in it.
    init() throws {
        scratch = try Scratch()
        let passphrase = try StorePassphrase(Bytes("correct horse".utf8).span)
        store = try .create(in: scratch.store, passphrase: passphrase, options: .quick)
        phone = PostingPhone(of: try store.generateProviderKey(topic: .app, at: start).publicKey)
        _ = try store.rotateSigningKey(at: start)
        _ = try store.requestCertificate(at: start)
        _ = try store.addPushKey(at: start)
        _ = try store.answerSecret(at: start)
        let record = try phone.signed(10, over: .session) {
            ($0.token, $0.environment, $0.grant) = ("00ff", .production, String(repeating: "Gr-4", count: 10))
        }
        _ = try store.post(record, session: .user("alice"))
        var gone = phone
        (gone.id, gone.key) = ("gone", DeviceKey().publicKey)
        _ = try store.post(gone.signed(10, over: .session), session: .user("alice"))
        _ = try store.removeDevices([LostDevice(id: "gone", at: start)], at: start)
        pairing = try PairingCode(url: "https://home.example.net/pair", provider: phone.provider)
        try store.addPairing(pairing, topic: .app, provider: phone.provider, user: "alice", at: start)
    }

    /// The readings of a value: its bytes, and those that its text stands for.
    private static func readings(of value: SQLiteValue) -> [Bytes] {
        switch value {
        case .null: []
        case .integer(let number): readings(of: Bytes(String(number).utf8))
        case .text(let bytes), .blob(let bytes): readings(of: bytes)
        }
    }

    private static func readings(of bytes: Bytes) -> [Bytes] {
        let decoded = PairingText.decode(bytes.span)
        return [bytes] + [Bytes(lowerCaseHex: String(decoding: bytes, as: UTF8.self)), decoded].compactMap(\.self)
    }

    /// Every piece of some length that a value has, of both ends.
    private static func pieces(of bytes: Bytes, _ length: Int) -> [Bytes] {
        guard bytes.count >= length else { return [] }
        return [Bytes(bytes.prefix(length)), Bytes(bytes.suffix(length))]
    }

    /// The posts that somebody could make of a value: every kind, with the value in each place.
    private func posts(of value: Bytes) throws -> [Bytes] {
        let text = PairingText.encode(value)
        let (mine, record) = (DeviceKey().publicKey, PairingText.encode(phone.record(99).json))
        var posts = [value, phone.record(99).json]
        func signature(_ bytes: Bytes) -> String {
            PairingText.encode(Bytes((bytes + Bytes(repeating: 0, count: 64)).prefix(64)))
        }
        for member in ["record", "pairing", "answer", "hello"] {
            posts.append(Bytes(#"{"\#(member)":"\#(text)"}"#.utf8))
        }
        posts.append(PhonePost.pairing(pairing.secret.id + value).body)
        posts.append(Bytes(#"{"record":"\#(record)","signature":"\#(signature(value))"}"#.utf8))
        posts.append(Bytes(#"{"record":"\#(text)","signature":"\#(signature(value))"}"#.utf8))
        // The old form, a secret that the provider knows as well; and the value as another member.
        for member in ["withdrawal", "grant", "token", "update_key", "nonce", "user"] {
            let json = String(decoding: phone.record(99).json.dropLast(), as: UTF8.self) + #","\#(member)":"\#(text)"}"#
            posts.append(Bytes(json.utf8))
            let record = PairingText.encode(Bytes(json.utf8))
            posts.append(Bytes(#"{"record":"\#(record)","signature":"\#(signature(value))"}"#.utf8))
        }
        // A seed of the update key.
        for seed in Self.pieces(of: value, 32) {
            let key = try SigningKey(seed: seed.span)
            for id in ["phone1", "gone", "other"] {
                var thief = phone
                thief.id = id
                for name in [key.publicKey, phone.updateKey.publicKey] {
                    let record = try thief.signed(start.milliseconds * 2, by: key) {
                        ($0.publicKey, $0.updateKey) = (mine, name)
                    }
                    posts.append(record.body)
                }
                posts.append(try thief.end(by: key).body)
            }
        }
        // The secret of an open code.
        for secret in Self.pieces(of: value, PairingSecret.length) {
            guard let secret = PairingSecret(secret.span) else { continue }
            let code = try PairingCode(secret, url: pairing.url.text, provider: phone.provider)
            let record = phone.record(99) { ($0.deviceID, $0.publicKey) = ("other", mine) }
            posts.append(PhonePairing(code, record, topic: try .app).body)
        }
        return posts
    }

    @Test func nothingInTheStoreChangesADevice() throws {
        let before = try store.contents()
        let values = Set(before.values.joined().joined().flatMap { Self.readings(of: $0) })
        #expect(values.count > 25 && values.contains(Bytes("phone1".utf8)))
        #expect(values.contains(phone.updateKey.publicKey.bytes))
        var tried = 0
        for value in values {
            for post in try posts(of: value) {
                tried += 1
                _ = try? store.accept(post, at: start)
            }
        }
        #expect(tried > 800)
        #expect(try store.contents() == before)
        // Those who have a secret are heard: these posts were no worse in form.
        #expect(try store.post(phone.signed(11) { $0.grant = "abc" }) == "updated")
        let other = phone.record(99) { ($0.deviceID, $0.publicKey) = ("other", DeviceKey().publicKey) }
        let request = PhonePairing(pairing, other, topic: try .app)
        guard case .paired? = try store.accept(request.body, at: start)?.event else {
            Issue.record("the code pairs")
            return
        }
    }

    /// Nor any other bytes of its files: the database and its log, the key file and a backup.
    @Test func noSecretOfAPhoneOrACodeIsInAFile() throws {
        try store.backUp(to: scratch.path + "/backup")
        let bytes = try scratch.bytes() + readFile(scratch.path + "/backup")
        #expect(bytes.contains(phone.updateKey.publicKey.bytes))
        for secret in [phone.updateKey.withSeed { Bytes(copying: $0) }, pairing.secret.withSpan { Bytes(copying: $0) }]
        {
            #expect(!bytes.contains(secret) && !bytes.contains(Bytes(secret.hex.utf8)))
            #expect(!bytes.contains(Bytes(PairingText.encode(secret).utf8)))
        }
    }
}

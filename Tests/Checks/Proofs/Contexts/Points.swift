import Pushcrypt

/// Points of small order, of mixed order, and such as are not canonical or on no curve, in every position where the format has a
/// point, with what the document demands there.
struct Points {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)
    private static let topic = "com.example.app"
    /// L, little-endian.
    private static let order = WeakPoints.bytes(
        hex: "edd3f55c1a631258d69cf7a2def9de14" + "00000000000000000000000000000010")

    private let seed: UInt64
    private let device: ForgedDevice
    private let sender: ForgedSender
    private let ephemeral: [UInt8]
    private let opener: Opener
    private let notOnCurve: [[UInt8]]

    private var count = 0
    private var positions: Set<String> = []

    init(seed: UInt64) throws {
        var numbers = Numbers(seed: seed, case: .max)
        self.seed = seed
        device = ForgedDevice(scalar: numbers.bytes(32))
        sender = ForgedSender(seed: numbers.bytes(32))
        ephemeral = numbers.bytes(32)
        notOnCurve = WeakPoints.notOnCurve(16, &numbers)
        opener = Opener(
            topic: try Topic(Self.topic), deviceKeys: [try device.key()],
            trust: SenderTrust(pinned: [try sender.trusted()]))
    }

    /// Tries every point in every position; gives how many of each there were.
    consuming func run() throws -> (points: Int, positions: Int) {
        guard WeakPoints.torsion.count == 8, Set(WeakPoints.torsion).count == 8 else {
            throw Misuse("there are eight points of small order")
        }
        try checkShares()
        try checkDeviceKeys()
        try checkSenderKeys()
        try checkStatements()
        try checkSignatures()
        print("points: \(count) in \(positions.count) positions")
        return (count, positions.count)
    }

    private mutating func expect(_ position: String, _ point: [UInt8], _ code: String, demanded: String) throws {
        count += 1
        positions.insert(position)
        guard code != demanded else { return }
        throw Disproof(
            "\(Bytes(point).hex) as \(position): \(code), and the document demands \(demanded)", again: "contexts",
            seed: seed)
    }

    // MARK: enc

    /// O-4.2 and O-4.1: a result of zero is refused, even by who knows the key that would come of it; anything else is taken as it is.
    private mutating func checkShares() throws {
        for point in WeakPoints.zeroShares {
            var forgery = genuine()
            (forgery.enc, forgery.sharedPoint) = (point, [UInt8](repeating: 0, count: 32))
            try expect("enc", point, opening(forgery), demanded: "authentication-failed")
        }
        for point in WeakPoints.otherShares(of: Primitives.x25519Base(ephemeral)) {
            var forgery = genuine()
            (forgery.enc, forgery.sharedPoint) = (point, Primitives.x25519(device.scalar, point))
            try expect("enc", point, opening(forgery), demanded: "opens")
        }
    }

    // MARK: A device's key

    private mutating func checkDeviceKeys() throws {
        for point in WeakPoints.zeroShares + WeakPoints.otherShares(of: device.publicKey) {
            let key = DevicePublicKey(checked: Bytes(point))
            let text = key.description
            let positions: [(String, () throws -> Void)] = [
                ("a device's key as bytes", { _ = try DevicePublicKey(bytes: key.bytes.span) }),
                ("a device's key as text", { _ = try DevicePublicKey(text: text) }),
                (
                    "the key of a registration",
                    { _ = try DeviceRegistration(json: Bytes(#"{"public_key":"\#(text)"}"#.utf8)) }
                ),
                (
                    "the key that a reply acknowledges",
                    { _ = try RegistrationReply(json: Bytes(#"{"version":1,"acknowledged":"\#(text)"}"#.utf8)) }
                ),
            ]
            for (position, read) in positions {
                try expect(position, point, keyCode(read), demanded: "weak-key")
            }
        }
        // S-11: should one have come past every import.
        let sealer = Sealer(sender: try sender.key(), topic: try Topic(Self.topic))
        for point in WeakPoints.zeroShares {
            var code = "seals"
            do throws(SealError) {
                let recipient = DevicePublicKey(checked: Bytes(point))
                _ = try sealer.seal(Self.payload, to: recipient, at: Self.now)
            } catch {
                code = error.code.description
            }
            try expect("recipient", point, code, demanded: "unusable-key")
        }
    }

    // MARK: A sender's key

    /// The points that K-7 refuses.
    private var weakSenders: [[UInt8]] {
        WeakPoints.torsion + WeakPoints.notCanonical + WeakPoints.mixed(with: sender.publicKey) + notOnCurve
    }

    private mutating func checkSenderKeys() throws {
        let device = DevicePublicKey(checked: Bytes(device.publicKey)).description
        for point in weakSenders {
            let key = SenderPublicKey(checked: Bytes(point))
            let text = key.description
            let positions: [(String, () throws -> Void)] = [
                ("a sender's key as bytes", { _ = try SenderPublicKey(bytes: key.bytes.span) }),
                ("a sender's key as text", { _ = try SenderPublicKey(text: text) }),
                (
                    "the key of a sender record",
                    { _ = try SenderAnnouncement(json: Bytes(#"{"public_key":"\#(text)"}"#.utf8), at: Self.now) }
                ),
                (
                    "the sender of a registration",
                    {
                        let json = #"{"public_key":"\#(device)","sender":"\#(text)"}"#
                        _ = try DeviceRegistration(json: Bytes(json.utf8))
                    }
                ),
                (
                    "the sender of a reply",
                    {
                        let json = #"{"version":1,"acknowledged":"\#(device)","sender":"\#(text)"}"#
                        _ = try RegistrationReply(json: Bytes(json.utf8))
                    }
                ),
            ]
            for (position, read) in positions {
                try expect(position, point, keyCode(read), demanded: "weak-key")
            }
        }
    }

    // MARK: A statement's new key

    /// R-5, whatever the second signature is; in a message such a statement has no effect.
    private mutating func checkStatements() throws {
        let app = try Topic(Self.topic)
        for point in weakSenders {
            let statement = try RotationStatement(bytes: Bytes(statement(naming: point)).span)
            var trust = SenderTrust(pinned: [try sender.trusted()])
            var code = "accepted"
            do throws(RotationError) {
                _ = try trust.accept(statement, for: app, at: Self.now)
            } catch {
                code = error.code.description
            }
            try expect("the new key of a statement", point, code, demanded: "weak-key")

            var forgery = genuine()
            forgery.contentType = 0x02
            forgery.signed.contentType = 0x02
            forgery.body = [1] + Array(statement.bytes) + Self.payload
            try expect(
                "the new key of a statement in a message", point, opening(forgery), demanded: "opens")
        }
    }

    /// Signed honestly by the old key. For a new key of small order the second signature is one that would verify, were it
    /// not checked: R the identity and S = 0.
    private func statement(naming newKey: [UInt8]) -> [UInt8] {
        var statement = [0x01] + sender.id + newKey + bigEndian(Self.now.milliseconds, 8)
        statement += bigEndian(34_560_000, 4) + bigEndian(2_678_400, 4)
        let label = Array("pushcrypt/1 rotation\0".utf8)
        let byOld = Primitives.sign(label + [0x01] + sender.publicKey + statement, sender.secretKey)
        return statement + byOld + WeakPoints.identity + [UInt8](repeating: 0, count: 32)
    }

    // MARK: A signature

    private mutating func checkSignatures() throws {
        // R of small order, with the S that its equation asks for: only who has the key can make one. And encodings of R that
        // are not canonical, with the same S.
        for point in WeakPoints.torsion + WeakPoints.notCanonical + notOnCurve {
            var forgery = genuine()
            forgery.signature = { message, sender in Self.sign(message, sender, nonce: nil, commitment: point) }
            try expect("R of a signature", point, opening(forgery), demanded: "authentication-failed")
        }
        // R of mixed order, by who has the key: such verify with the cofactor and not without it, as here.
        let nonce = Primitives.reduce(Primitives.sha512(ephemeral))
        for point in WeakPoints.mixed(with: Primitives.edwardsBase(nonce)) {
            var forgery = genuine()
            forgery.signature = { message, sender in Self.sign(message, sender, nonce: nonce, commitment: point) }
            try expect("R of a signature", point, opening(forgery), demanded: "authentication-failed")
        }
        // The same by the same steps with an ordinary R, or the cases above would fail for another reason.
        var control = genuine()
        control.signature = { message, sender in
            Self.sign(message, sender, nonce: nonce, commitment: Primitives.edwardsBase(nonce))
        }
        try expect("R of a signature", Primitives.edwardsBase(nonce), opening(control), demanded: "opens")
        // S + L, S + 2L, … as far as 32 bytes hold.
        var honest = genuine()
        for multiple in 1...15 {
            honest.changeSignature = { signature in
                for _ in 0..<multiple {
                    signature.replaceSubrange(32..., with: Self.sum(Array(signature[32...]), Self.order))
                }
            }
            try expect("S of a signature", Self.order, opening(honest), demanded: "authentication-failed")
        }
    }

    /// A signature with a given R: S = r + H(R, A, message) · a, for r of nil 0.
    private static func sign(
        _ message: [UInt8], _ sender: ForgedSender, nonce: [UInt8]?, commitment: [UInt8]
    ) -> [UInt8] {
        var secret = Array(Primitives.sha512(sender.seed)[..<32])
        secret[0] &= 248
        secret[31] = secret[31] & 127 | 64
        let challenge = Primitives.reduce(Primitives.sha512(commitment + sender.publicKey + message))
        let product = Primitives.multiply(challenge, Primitives.reduce(secret + [UInt8](repeating: 0, count: 32)))
        let sum = nonce.map { Self.sum(product, $0) } ?? product
        return commitment + Primitives.reduce(sum + [UInt8](repeating: 0, count: 32))
    }

    /// The sum of two little-endian numbers modulo 2^256.
    private static func sum(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
        var carry = 0
        return zip(a, b).map { a, b in
            carry += Int(a) + Int(b)
            defer { carry >>= 8 }
            return UInt8(carry & 0xff)
        }
    }

    // MARK: Codes

    private static let payload = Array(#"{"aps":{"alert":"See you at 8"}}"#.utf8)

    private func genuine() -> Forgery {
        Forgery(
            to: device, from: sender, topic: Self.topic, body: Self.payload, bucket: 512,
            sentAt: Self.now.milliseconds, ephemeral: ephemeral)
    }

    private func opening(_ forgery: Forgery) -> String {
        do throws(OpenError) {
            let text = Bytes(forgery.text())
            let opened = try opener.open(Envelope(text: text.span), at: Self.now)
            return opened.statements.isEmpty ? "opens" : "opens, and accepts a statement"
        } catch {
            return error.code.description
        }
    }

    private func keyCode(_ read: () throws -> Void) -> String {
        do {
            try read()
            return "taken"
        } catch {
            return (error as? KeyError)?.code.description ?? "\(error)"
        }
    }
}

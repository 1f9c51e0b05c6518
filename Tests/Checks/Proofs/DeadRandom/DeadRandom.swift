import Pushcrypt

/// Seals many different messages while the random source gives the same bytes for ever. (`Docs/FormatNotes.md`, Randomness)
///
/// The values that must differ are found in place: the message key and the nonce are derived from the envelope with the device's secret,
/// and taken only when they open it.
enum DeadRandom {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)
    private static let messages = 10_000
    private static let files = 1_000
    private static let topics = ["com.example.app", "com.example.ap"]

    /// A sender with its key in this process, and one with its key elsewhere.
    private enum Signer: String, CaseIterable {
        case inProcess = "in-process"
        case external = "external"

        func sealer(_ sender: ForgedSender, _ topic: String) throws -> Sealer {
            switch self {
            case .inProcess: Sealer(sender: try sender.key(), topic: try Topic(topic))
            case .external: Sealer(signer: try .connect(to: Elsewhere(key: sender.key())), topic: try Topic(topic))
            }
        }
    }

    /// A key that the sealer cannot see.
    private struct Elsewhere: MessageSigner {
        let key: SenderKey

        var publicKey: SenderPublicKey { key.publicKey }

        func sign(_ messages: [Bytes]) throws(SigningError) -> [Bytes] { key.sign(messages) }
    }

    /// Values that may not come twice.
    private struct Once {
        private var seen: [String: Set<[UInt8]>] = [:]
        private(set) var count = 0

        mutating func take(_ value: [UInt8], as kind: String, in place: String, seed: UInt64) throws {
            count += 1
            guard seen[kind, default: []].insert(value).inserted else {
                throw Disproof("\(place): the \(kind) \(Bytes(value).hex) came twice", again: "dead-random", seed: seed)
            }
        }
    }

    static func run(seed: UInt64) throws {
        let watch = Stopwatch()
        guard Sodium.randomBytes(32) == Bytes(repeating: 0x2a, count: 32) else {
            throw Misuse("libsodium has another random source")
        }
        var once = Once()
        var numbers = Numbers(seed: seed)
        let devices = (0..<5).map { _ in ForgedDevice(scalar: numbers.bytes(32)) }
        var sealed = 0
        for signer in Signer.allCases {
            let sender = ForgedSender(seed: numbers.bytes(32))
            sealed += try sealMessages(from: sender, signer, to: devices, &once, seed: seed)
            try sealFiles(from: sender, signer, &once, seed: seed)
        }
        printFigure(
            "dead-random",
            [
                "messages": sealed, "files": files * Signer.allCases.count, "devices": devices.count,
                "different-values": once.count, "seconds": watch.seconds,
            ])
    }

    // MARK: Messages

    /// The parts of a message, besides its sender.
    private struct Content {
        var text: String
        var time: Timestamp
        var timeToLive: UInt32 = 2_592_000
        var device: ForgedDevice
        var topic: Int
    }

    private static func sealMessages(
        from sender: ForgedSender, _ signer: Signer, to devices: [ForgedDevice], _ once: inout Once, seed: UInt64
    ) throws -> Int {
        let sealers = try topics.map { try signer.sealer(sender, $0) }
        var sealed = 0
        for number in 0..<messages {
            // Ten messages have one text, and a millisecond between them.
            let content = Content(
                text: "message \(number / 10)", time: now.adding(milliseconds: UInt64(number % 10)),
                device: devices[number % 5], topic: number % 2)
            let place = "\(signer.rawValue) message \(number)"
            let message = try seal(content, sealers, place, &once, seed: seed)
            try once.take(Array(message.messageID.bytes), as: "message id", in: place, seed: seed)
            sealed += 1
            guard number % 10 == 0 else { continue }
            // What the id does not name makes another key all the same: the device, the app, the time to live.
            var (device, topic, life) = (content, content, content)
            device.device = devices[(number + 1) % 5]
            topic.topic = 1 - content.topic
            life.timeToLive -= 1
            for other in [device, topic, life] {
                let other = try seal(other, sealers, place, &once, seed: seed)
                guard other.messageID == message.messageID else {
                    throw Disproof("\(place) has two ids", again: "dead-random", seed: seed)
                }
                sealed += 1
            }
        }
        return sealed
    }

    /// Seals a message twice: it is the same to the byte, and its keys are no other's.
    private static func seal(
        _ content: Content, _ sealers: [Sealer], _ place: String, _ once: inout Once, seed: UInt64
    ) throws -> SealedPayload {
        let payload = Array(#"{"aps":{"alert":"\#(content.text)"}}"#.utf8)
        var options = Sealer.Options()
        options.timeToLive = .seconds(UInt64(content.timeToLive))
        let recipient = DevicePublicKey(checked: Bytes(content.device.publicKey))
        let sealer = sealers[content.topic]
        let message = try sealer.seal(payload, to: recipient, at: content.time, options: options)
        let again = try sealer.seal(payload, to: recipient, at: content.time, options: options)
        guard again == message else {
            throw Disproof("\(place): sealed again it is another", again: "dead-random", seed: seed)
        }
        try once.take(Array(message.envelope.enc), as: "ephemeral key", in: place, seed: seed)
        let keys = try keys(of: message, content.device, topics[content.topic], place, seed: seed)
        try once.take(keys.key + keys.nonce, as: "key and nonce", in: place, seed: seed)
        return message
    }

    /// Key and nonce of an envelope, proved by opening it.
    private static func keys(
        of message: SealedPayload, _ device: ForgedDevice, _ topic: String, _ place: String, seed: UInt64
    ) throws -> MessageKeys {
        let enc = Array(message.envelope.enc)
        let ciphertext = Array(message.envelope.bytes[37...])
        guard let point = Primitives.x25519(device.scalar, enc) else { throw Misuse("\(place) has a weak share") }
        let keys = MessageKeys(sharedPoint: point, enc: enc, Forgery.Info(device: device, topic: topic))
        guard Primitives.decrypt(ciphertext, key: keys.key, nonce: keys.nonce) != nil else {
            throw Disproof("\(place) is not sealed under the key of the document", again: "dead-random", seed: seed)
        }
        return keys
    }

    // MARK: Files

    private static func sealFiles(
        from sender: ForgedSender, _ signer: Signer, _ once: inout Once, seed: UInt64
    ) throws {
        let sealer = try signer.sealer(sender, topics[0])
        for number in 0..<files {
            // Different in the text, or in the length alone.
            let plain = Bytes(repeating: UInt8(number % 10), count: 1 + number / 10)
            let place = "\(signer.rawValue) file \(number)"
            let first = try seal(plain, sealer)
            try once.take(first.key, as: "file key", in: place, seed: seed)
            guard try seal(plain, sealer) == first else {
                throw Disproof("\(place): sealed again it is another", again: "dead-random", seed: seed)
            }
        }
    }

    private static func seal(_ plain: Bytes, _ sealer: Sealer) throws -> SealedForTest {
        var first = AttachmentSealer.FirstPass()
        first.update(plain.span)
        var pass = first.sealer(for: sealer)
        var sealed = Bytes()
        try pass.seal(plain.span, into: &sealed)
        let file = try pass.finish(into: &sealed)
        return SealedForTest(key: try key(of: file), sealed: sealed)
    }

    private struct SealedForTest: Equatable {
        let key: [UInt8]
        let sealed: Bytes
    }

    /// The key as it travels inside a payload: the first member.
    private static func key(of file: SealedFile) throws -> [UInt8] {
        var json = JSONWriter()
        json.object { file.write(to: &$0) }
        let text = Array(json.bytes)
        guard text.starts(with: #"{"key":""#.utf8), let key = Base64.decode(Array(text[8..<51])) else {
            throw Misuse("a sealed file has no key")
        }
        return key
    }
}

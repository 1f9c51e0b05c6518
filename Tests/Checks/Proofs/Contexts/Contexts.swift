import Pushcrypt
import Synchronization

/// Mixes the parts of envelopes for two topics, two devices, two senders, two content types and two suites, in every way that there
/// is, and hands each mixture to every receiver: only the one in which everything agrees opens.
enum Contexts {
    private static let topics = ["com.example.app", "com.example.ap"]
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)

    /// Which of two each part belongs to. Every bit is one choice.
    private struct Mixture {
        static let count = 1 << 12

        let number: Int

        private func bit(_ index: Int) -> Int { number >> index & 1 }

        // Written on the outside.
        var outerSuite: Int { bit(0) }
        var outerDevice: Int { bit(1) }
        // Encrypted for.
        var infoSuite: Int { bit(2) }
        var infoDevice: Int { bit(3) }
        var infoTopic: Int { bit(4) }
        // Signed for, and by whom.
        var signedSuite: Int { bit(5) }
        var signedDevice: Int { bit(6) }
        var signedTopic: Int { bit(7) }
        var signedType: Int { bit(8) }
        var signedSender: Int { bit(9) }
        // Written on the inside.
        var innerSender: Int { bit(10) }
        var innerType: Int { bit(11) }

        /// A genuine envelope for these.
        var isWhole: Bool {
            let suites = outerSuite | infoSuite | signedSuite
            return suites == 0 && outerDevice == infoDevice && infoDevice == signedDevice && infoTopic == signedTopic
                && signedType == innerType && signedSender == innerSender
        }
    }

    /// Who gets a mixture: one topic, one or both of the devices' keys, one or both of the senders trusted.
    private struct Receiver: Sendable {
        let topic: Int
        let devices: [Int]
        let senders: [Int]
        let opener: Opener

        static func all(_ parties: Parties) throws -> [Receiver] {
            let choices = [[0], [1], [0, 1]]
            return try [0, 1].flatMap { topic in
                try choices.flatMap { devices in
                    try choices.map { senders in
                        let opener = Opener(
                            topic: try Topic(topics[topic]),
                            deviceKeys: try devices.map { try parties.devices[$0].key() },
                            trust: SenderTrust(pinned: try senders.map { try parties.senders[$0].trusted() }))
                        return Receiver(topic: topic, devices: devices, senders: senders, opener: opener)
                    }
                }
            }
        }

        /// The code that the document demands; nil where it opens.
        func code(of mixture: Mixture) -> OpenError.Code? {
            if mixture.outerSuite != 0 { return .unsupportedSuite }
            if !devices.contains(mixture.outerDevice) { return .unknownRecipientKey }
            let isMine = mixture.infoTopic == topic && senders.contains(mixture.signedSender)
            return mixture.isWhole && isMine ? nil : .authenticationFailed
        }
    }

    private struct Parties: Sendable {
        let devices: [ForgedDevice]
        let senders: [ForgedSender]
        /// A statement of two keys that nobody knows.
        let statement: [UInt8]

        init(seed: UInt64) throws {
            var numbers = Numbers(seed: seed)
            devices = [numbers.bytes(32), numbers.bytes(32)].map(ForgedDevice.init(scalar:))
            senders = [numbers.bytes(32), numbers.bytes(32)].map(ForgedSender.init(seed:))
            let strangers = try [numbers.bytes(32), numbers.bytes(32)].map { try ForgedSender(seed: $0).key() }
            statement = Array(try RotationStatement(from: strangers[0], to: strangers[1], at: now).bytes)
        }

        func envelope(_ mixture: Mixture, ephemeral: [UInt8]) -> [UInt8] {
            let payload = Array(#"{"aps":{"alert":"See you at 8"}}"#.utf8)
            var forgery = Forgery(
                to: devices[mixture.infoDevice], from: senders[mixture.signedSender], topic: topics[mixture.infoTopic],
                body: mixture.innerType == 0 ? payload : [1] + statement + payload, bucket: 512,
                sentAt: now.milliseconds, ephemeral: ephemeral)
            forgery.suite = UInt8(1 + 2 * mixture.outerSuite)
            forgery.recipientID = devices[mixture.outerDevice].id
            forgery.info.suite = UInt8(1 + 2 * mixture.infoSuite)
            forgery.signed.suite = UInt8(1 + 2 * mixture.signedSuite)
            forgery.signed.device = devices[mixture.signedDevice]
            forgery.signed.topic = topics[mixture.signedTopic]
            forgery.signed.contentType = UInt8(1 + 2 * mixture.signedType)
            forgery.senderID = senders[mixture.innerSender].id
            forgery.contentType = UInt8(1 + 2 * mixture.innerType)
            return forgery.text()
        }
    }

    /// Everything, or the one mixture that the argument names.
    static func run(_ arguments: [String], seed: UInt64) throws {
        let watch = Stopwatch()
        let parties = try Parties(seed: seed)
        let receivers = try Receiver.all(parties)
        let only = arguments.first.flatMap { Int($0) }
        let totals = Mutex((opened: 0, refused: 0))
        try onEveryProcessor(count: Mixture.count) { number in
            guard only.map({ $0 == number }) ?? true else { return }
            let mixture = Mixture(number: number)
            var numbers = Numbers(seed: seed, case: UInt64(number))
            let text = Bytes(parties.envelope(mixture, ephemeral: numbers.bytes(32)))
            for receiver in receivers {
                let code = try check(mixture, receiver, text, parties, seed: seed)
                totals.withLock { if code == nil { $0.opened += 1 } else { $0.refused += 1 } }
            }
        }
        guard only == nil else { return print("as demanded") }
        let (opened, refused) = totals.withLock { $0 }
        // 2 topics, 2 devices, 2 senders and 2 types, each at the receivers of its topic with the device and the sender.
        guard opened == 16 * 4 else { throw Misuse("\(opened) mixtures opened, and 64 are whole") }
        print(
            "contexts: \(opened) opened and \(refused) were refused, of \(Mixture.count) mixtures at \(receivers.count) receivers"
        )
        let points = try Points(seed: seed).run()
        printFigure(
            "contexts",
            [
                "mixtures": Mixture.count, "receivers": receivers.count, "opened": opened, "refused": refused,
                "points": points.points, "positions": points.positions, "seconds": watch.seconds,
            ])
    }

    private static func check(
        _ mixture: Mixture, _ receiver: Receiver, _ text: Bytes, _ parties: Parties, seed: UInt64
    ) throws -> OpenError.Code? {
        let demanded = receiver.code(of: mixture)
        var code: OpenError.Code?
        var isNamedRightly = true
        do throws(OpenError) {
            let opened = try receiver.opener.open(Envelope(text: text.span), at: now)
            isNamedRightly =
                Array(opened.sender.bytes) == parties.senders[mixture.signedSender].publicKey
                && Array(opened.openedWith.bytes) == parties.devices[mixture.outerDevice].publicKey
        } catch {
            code = error.code
        }
        guard code == demanded, isNamedRightly else {
            throw Disproof(
                "mixture \(mixture.number) at topic \(receiver.topic), devices \(receiver.devices), senders \(receiver.senders): \(code?.description ?? "opens"), and the document demands \(demanded?.description ?? "that it opens, and names sender and device")",
                again: "contexts \(mixture.number)", seed: seed)
        }
        return code
    }
}

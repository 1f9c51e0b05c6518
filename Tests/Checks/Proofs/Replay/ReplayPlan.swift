import Pushcrypt
import PushcryptKeyStore

/// One round of deliveries: messages of several senders, one to three copies of each, in an order that every process works out for
/// itself.
struct ReplayPlan {
    private static let messagesOfARound = 64_000
    /// How many rows a guard keeps of one sender and account. (`Docs/Format.md`, O-8.6)
    private static let capacity = 4096
    private static let largestSenderCount = 64
    private static let hour: UInt64 = 3_600_000
    static let start = Timestamp(milliseconds: 1_790_000_000_000)

    struct Copy {
        let message: Int
        /// 0, 1 or 2; the first and the third come under the same request.
        let number: Int

        var request: String { number == 1 ? "second" : "first" }

        /// Whether its process is ended after it has taken the message, before it hands it over.
        var isLost: Bool { number == 0 && message % 7 == 0 }
    }

    let round: Int
    let messages: Int
    /// How many senders there are; message and sender number are the same modulo this.
    let senders: Int
    let copies: [Copy]

    /// An overfull round has three times as many messages as a guard keeps of a sender and account.
    init(round: Int, isOverfull: Bool, seed: UInt64) {
        var numbers = Numbers(seed: seed, case: UInt64(round))
        self.round = round
        senders = isOverfull ? 4 : Self.largestSenderCount
        messages = isOverfull ? senders * 2 * 3 * Self.capacity : Self.messagesOfARound
        var blocks: [[Copy]] = []
        for message in 0..<messages {
            let copies = (0..<1 + numbers.below(3)).map { Copy(message: message, number: $0) }
            // The copies of one message of four come at the same time, to different workers.
            if numbers.below(4) == 0 { blocks.append(copies) } else { blocks += copies.map { [$0] } }
        }
        blocks.shuffle(using: &numbers)
        copies = blocks.flatMap { $0 }
    }

    /// Three days later in every round, so that what was before has expired and is forgotten.
    var now: Timestamp { Self.start.adding(milliseconds: UInt64(round) * 72 * Self.hour) }

    /// Over the hour that each message lives.
    func sentAt(_ message: Int) -> Timestamp {
        now.subtracting(milliseconds: UInt64(message) * 7919 % (Self.hour - 1))
    }

    func expiresAt(_ message: Int) -> Timestamp { sentAt(message).adding(milliseconds: Self.hour) }

    func id(_ message: Int) throws -> MessageID {
        let bytes = Bytes(bigEndian(UInt64(round), 8) + bigEndian(UInt64(message), 8))
        guard let id = MessageID(bytes: bytes.span) else { throw Misuse("an id has 16 bytes") }
        return id
    }

    /// Every other message of a sender is for another account.
    func account(_ message: Int) -> String { message / senders % 2 == 0 ? "anna" : "ben" }

    static func senderKeys() throws -> [SenderPublicKey] {
        try (0..<largestSenderCount).map {
            try ForgedSender(seed: [UInt8](repeating: UInt8($0 + 1), count: 32)).trusted()
        }
    }
}

/// The guard's result for a copy, as one byte.
struct ReplayAnswer: Equatable {
    let verdict: ReplayVerdict
    let rings: Bool

    init(_ verdict: ReplayVerdict, rings: Bool) {
        self.verdict = verdict
        self.rings = rings
    }

    private static let verdicts: [ReplayVerdict] = [.new, .again, .copy, .seen]

    init?(_ byte: UInt8) {
        guard byte < 8 else { return nil }
        self.init(Self.verdicts[Int(byte & 3)], rings: byte & 4 != 0)
    }

    var byte: UInt8 {
        get throws {
            guard let index = Self.verdicts.firstIndex(of: verdict) else { throw Misuse("a verdict without a number") }
            return UInt8(index) | (rings ? 4 : 0)
        }
    }
}

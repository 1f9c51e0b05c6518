@testable import Pushcrypt

/// The answer of a phone: it has one text, only what the message's key has sealed opens, and only as an answer to that message.
///
/// Input: what it is, then a text, edits of a genuine text, edits of the bytes of one, or the JSON that the harness seals as a phone would.
struct AnswerTarget: FuzzTarget {
    static let name = "answer"

    private static let random = Bytes(repeating: 7, count: 16)

    private let secret = KnownKeys.known { () throws(KeyError) in
        try AnswerSecret(bytes: Bytes(repeating: 0x51, count: AnswerSecret.length).span)
    }
    private let opener: AnswerOpener
    private let key: AnswerKey
    private let message = MessageID(callerName: "message")
    /// A short answer, and one of each length.
    private let genuine: [Bytes]

    init() {
        let device = KnownKeys.device.publicKey
        opener = AnswerOpener(
            topic: KnownKeys.topic, secrets: [secret], devices: [device, KnownKeys.otherDevice.publicKey])
        let key = KnownKeys.known { [secret, message] () throws(SodiumRefusal) in
            let id = secret.id(of: message, sentAt: KnownKeys.now, to: device, KnownKeys.topic)
            return try secret.key(for: id, to: device, KnownKeys.topic)
        }
        self.key = key
        genuine = [nil, 0, 200, 1500, 3900].map { [message] length in
            let answer = Answer(
                device: device, message, sentAt: KnownKeys.now, action: "REPLY",
                text: length.map { String(repeating: "x", count: $0) }, answeredAt: KnownKeys.now)
            let sealed = KnownKeys.known { () throws(SealError) in
                try SealedAnswer(answer, with: key, random: Self.random.span)
            }
            return Bytes(sealed.text.utf8)
        }
    }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let form = choices.byte()
        var text = genuine[Int(form >> 2) % genuine.count]
        switch form & 3 {
        case 0: check(choices.rest())
        case 1:
            text.edit(&choices)
            check(text)
        case 2:
            guard var bytes = Base64URL.decode(text.span) else { fail("answer: a genuine text decodes") }
            bytes.edit(&choices)
            check(Bytes(Base64URL.string(bytes.span).utf8))
        default: checkSealed(choices.rest())
        }
    }

    private func check(_ text: Bytes) {
        let isGenuine = genuine.contains { $0.count == text.count && $0.begins(with: text) }
        guard let sealed = try? SealedAnswer(text: text.span) else {
            return require(!isGenuine, "answer: a genuine answer is one")
        }
        require(Bytes(sealed.text.utf8) == text, "answer: an answer has one text")
        require((open(sealed) != nil) == isGenuine, "answer: genuine answers open, and no others")
    }

    /// A phone that has the message may write what it likes.
    private func checkSealed(_ json: Bytes) {
        guard
            let sealed = SealedAnswer(
                json: json, of: KnownKeys.device.publicKey.id, with: key, random: Self.random.span)
        else {
            return require(json.count > SealedAnswer.maximumJSONLength, "answer: every text that fits is sealed")
        }
        guard let opened = open(sealed) else { return }
        require(
            opened.messageID == message && opened.sentAt == KnownKeys.now,
            "answer: an answer that opens is to the message whose key has sealed it")
        guard let written = try? JSONDocument(parsing: opened.json).root else { fail("answer: what opens is JSON") }
        require(
            written["action"]?.string == opened.action && written["text"]?.string == opened.text,
            "answer: action and text are written as they are read")
    }

    private func open(_ sealed: SealedAnswer) -> Answer? { try? opener.open(sealed, at: KnownKeys.now) }
}

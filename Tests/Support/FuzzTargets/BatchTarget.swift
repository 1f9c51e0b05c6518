import PushcryptKeyStore

@testable import Pushcrypt
@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The lines of a batch: each has one answer, which is JSON, keeps the line's own keys and no secret; and what was sealed opens to
/// what was given.
///
/// Input: how the batch is told to answer, then its lines. The bytes 0x01 to 0x08, 0x0E and 0x0F stand for texts that no mutation
/// would find, 0x08 and 0x0E for the texts of the secret keys, 0x0F for a public key of suite 2.
struct BatchTarget: FuzzTarget {
    static let name = "batch"

    private let keys: Keys
    private let opener: Opener
    private let words: [UInt8: Bytes]
    private let secrets: [Bytes]
    /// The devices whose messages the opener opens, by id or by key.
    private let recipients: [String]

    init() {
        let (provider, device) = (KnownKeys.provider(1), KnownKeys.device)
        let postQuantum = KnownKeys.postQuantum.map { [$0] } ?? []
        recipients = ["phone"] + postQuantum.map { "\($0.publicKey)" }
        let store = KnownKeys.known { () throws(KeyStoreError) in
            let store = try SQLiteKeyStore.inMemory()
            _ = try store.importProviderKey(provider, named: "provider", topic: KnownKeys.topic, at: KnownKeys.now)
            let registration = DeviceRegistration(
                publicKey: device.publicKey, topic: KnownKeys.topic, createdAt: KnownKeys.now)
            _ = try store.addDevice(registration, id: "phone", owner: .user("alice"), at: KnownKeys.now)
            return store
        }
        guard let keys = try? Keys(.store(store, signWith: nil), follows: true) else { fail("batch: a store has keys") }
        self.keys = keys
        let trust = ProviderTrust(pinned: [provider.publicKey])
        opener = Opener(topic: KnownKeys.topic, deviceKeys: [device] + postQuantum, trust: trust)
        let sealed = KnownKeys.known { () throws(SealError) in
            try Sealer(provider: provider, topic: KnownKeys.topic).seal(
                Sealer.Message(#"{"aps":{"alert":"Hello"}}"#.utf8), to: device.publicKey, at: KnownKeys.now)
        }
        secrets = [provider.withText { Bytes(copying: $0) }, device.withText { Bytes(copying: $0) }]
        words = [
            0x01: Bytes(device.publicKey.description.utf8), 0x02: sealed.json,
            0x03: Bytes(#""to":"phone","payload":{"aps":{"alert":"Hello"}}"#.utf8),
            0x04: Bytes(#""payload":{"aps":"#.utf8),
            0x05: Bytes(#""error":{"code":"a","message":"b"},"line":1"#.utf8),
            0x06: Bytes(repeating: UInt8(ascii: "["), count: 33),
            0x07: Bytes(repeating: UInt8(ascii: "x"), count: 2500),
            0x08: secrets[0], 0x0e: secrets[1],
            0x0f: Bytes((recipients.last ?? "").utf8),
        ]
    }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let form = choices.byte()
        let text = Bytes(choices.rest().flatMap { words[$0] ?? [$0] }.prefix(1 << 14))
        let chunk = LineChunk(number: 0, firstLine: 1, bytes: text)
        var answers = Answers()
        if form & 3 == 3 {
            let worker = OpenWorker(
                receiver: .keyFile(opener), mayPassInTheClear: form & 4 != 0, pushClass: .alert, console: Self.console,
                form: LineForm(.open))
            worker.answer(chunk, &answers)
            check(answers, chunk, AnswerRules(names: .open, mayBeName: false), isSealed: false)
        } else {
            let settings = settings(form)
            SealWorker(settings, keys, Self.console).answer(chunk, &answers)
            let names = LineNames.seal(settings.form.emission, hasFacts: settings.form.hasFacts, hasFiles: false)
            check(
                answers, chunk, AnswerRules(names: names, mayBeName: settings.lines == .recipients),
                isSealed: settings.lines == .objects && settings.form.emission == .payload)
        }
    }

    private static let console = Console(
        input: .standardInput, output: .standardOutput, messages: .standardError, terminal: "/dev/null",
        variable: { _ in nil }, now: { KnownKeys.now.milliseconds }, redact: SecretText.removed)

    private func settings(_ form: UInt8) -> SealSettings {
        let isForAll = form & 3 == 1
        var message = Message(content: Sealer.Message(isForAll ? Bytes(#"{"aps":{"alert":"Hello"}}"#.utf8) : []))
        message.content.fitting = form & 32 != 0 ? [.body] : []
        var settings = SealSettings(message: message, now: { KnownKeys.now })
        settings.form = SealForm(
            emission: Emission.allCases[Int(form >> 2 & 3) % Emission.allCases.count], hasFacts: form & 16 != 0,
            passesUnencrypted: form & 64 != 0)
        settings.lines = isForAll ? .recipients : .objects
        settings.log = form & 128 != 0 ? .json : nil
        return settings
    }

    private func check(_ answer: Answers, _ chunk: LineChunk, _ rules: AnswerRules, isSealed: Bool) {
        var lines: [Bytes] = []
        chunk.forEachLine(maximum: Line.maximumLength) { _, line in
            if let line { lines.append(line) }
        }
        require(answer.output.last ?? newline == newline, "batch: every answer is ended")
        let answers = answer.output.split(separator: newline).map { Bytes($0) }
        require(answers.count == lines.count, "batch: \(lines.count) lines have \(answers.count) answers")
        for (line, text) in zip(lines, answers) {
            let answer = rules.check(text, to: line)
            for secret in secrets {
                require(
                    !text.contains(secret) || line.contains(secret),
                    "batch: an answer holds no secret but its line's own")
                require(!says(answer.error, secret), "batch: no error quotes a secret")
            }
            if isSealed, let kept = answer.kept { checkSealed(kept, of: line) }
        }
        for secret in secrets {
            require(!answer.log.contains(secret), "batch: no log holds a secret")
        }
    }

    private func says(_ error: JSONValue?, _ secret: Bytes) -> Bool {
        guard let error else { return false }
        return error.members.contains { $0.value.string.map { Bytes($0.utf8).contains(secret) } ?? false }
    }

    /// A message sealed for the known device opens and has the given content.
    private func checkSealed(_ answer: JSONValue, of line: Bytes) {
        guard answer["error"] == nil, answer["unencrypted"] == nil, answer["shortened"] == nil,
            let given = (try? JSONDocument(parsing: line, maximumDepth: 33))?.root,
            given["to"]?.string.map(recipients.contains) == true || given["to_user"]?.string == "alice",
            given["topic"] == nil
        else { return }
        let payload = answer["payload"]?.minified() ?? []
        let opened = PushClass.allCases.lazy.compactMap { [opener] pushClass in
            try? opener.open(payload, at: KnownKeys.now, as: pushClass)
        }.first
        guard let opened else { fail("batch: what was sealed opens") }
        require(opened.payload == given["payload"]?.minified(), "batch: what opens is what was given")
    }
}

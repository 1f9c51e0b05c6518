internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let seal = Command(
        "seal", "seal the content of an APNs payload",
        about: """
            Seals the content of a payload for one device, behind a placeholder that the relay may read. Send the result unchanged, with the same headers. A payload that could not be opened or shown is refused with exit 65.
            --emit request writes what 'send' reads, with push tokens, --emit relay what 'send --relay' reads, --emit apns a file for a simulator. --batch takes a message per line, {"to": "phone1", "payload": {…}}: see Docs/Provider.md.
            """,
        more: """
            With --ttl, a phone shows the message up to 10 minutes longer; 0 means now or never.
            A line may have 'to_user' instead of 'to', and topic, sign_with, id, ttl, placeholder, push_type, withdraw, drop, answerable, from_name, collapse_id, priority, apns_id, token, environment and grant instead of the options and of what the store knows; other keys are passed through, but keys of the answer are refused. A failed line becomes {"error": {"code", "message"}, "line": N} with its keys, and the command ends with 65, or with 1 if a line may succeed later. To retry a failed line, add its payload again; 'error' and 'line' are then ignored. --to-user, --to-all and --to-file write such lines too. A line of --to-file is an id, a public key, or an object with 'to' or 'to_user'.
            --fit shortens texts with an ellipsis, and reports by how much. --overflow puts a body that is too long into a sealed file: store it below --url before you send the push. A phone that cannot fetch it shows the short body.
            --json adds the fingerprint, message id, bucket and sizes. --log text writes 'pushcrypt: sealed fingerprint=… recipient_key_id=… message_id=… bytes=… bucket=…' and, in a batch, line=…; --log json an object, with id and time, and messages as objects too. The phone's journal and 'inspect' show the same fingerprint.
            """,
        examples: [
            "pushcrypt seal --to phone1 --topic com.example.app payload.json",
            "pushcrypt seal --batch --emit request < messages | pushcrypt send > answers",
        ]
    ) { a in
        let arguments = SealArguments(&a)
        a.messageFormat = arguments.log?.messages
        return { try arguments.seal($0) }
    }
}

extension SealArguments {
    fileprivate func seal(_ console: Console) throws {
        guard let recipients else {
            throw Failure.usage("no recipient given", hint: "add --to with a device's id or its public key (pcr1…)")
        }
        var settings = try settings(console)
        if case .lines = recipients {
            if message.content.name != nil {
                throw Failure.usage("--id names one message, and there are many", hint: "give each line its 'id'")
            }
        } else {
            // Read before a store is opened: the payload may take long to arrive.
            settings.message.content.payload = try console.read(file, limit: JSONDocument.defaultMaximumBytes)
        }
        if case .one(let device) = recipients { return try seal(settings, for: device, console) }
        try sealMany(settings, for: recipients, console)
    }

    /// Seals one message, a batch of one.
    private func seal(_ settings: SealSettings, for device: String?, _ console: Console) throws {
        var settings = settings
        if let device {
            settings.message.recipient = try naming("--to", exit: .usage) { try Recipient(named: device) }
            settings.lines = .ids
        }
        let batch = Batch(verb: .sealed, options: batch, console: console)
        try batch.checkMetrics()
        let source = try keys(console)
        try complete(&settings.message, from: source)
        let (sealed, line) = try SealWorker(settings, Keys(source), console).sealOnly(for: device)
        let text = form.emission.isRequest || form.hasFacts ? line : sealed.text(form.emission) + [newline]
        try console.deliver(text.span, to: output, isSecret: sealed.payload == nil)
        sealed.report(console)
        if device == nil { console.warning("the payload is not sealed: no recipient is given") }
        if log != nil { console.log(sealed.event, sealed.logFields) }
        var tally = BatchTally(lines: 1)
        sealed.count(in: &tally)
        batch.tryToWriteMetrics(tally)
    }

    private func sealMany(_ settings: SealSettings, for recipients: Recipients, _ console: Console) throws {
        let batch = Batch(
            verb: .sealed, hasClearContent: form.passesUnencrypted, log: log, options: batch, output: output,
            console: console)
        var settings = settings
        let source = try keys(console)
        try complete(&settings.message, from: source)
        // A wrong key affects every line.
        let keys = try Keys(source)
        if let warning = keys.warning { console.warningOnce("\(warning.code): \(warning)") }
        if case .lines = recipients {
        } else {
            settings.lines = .recipients
            // A payload that cannot be sealed for any device is refused before devices are looked up.
            if !form.passesUnencrypted { try settings.message.content.refuseUnsealable() }
        }
        if case .all = recipients { settings.lines = .ids }
        let worker = { @Sendable [settings] in SealWorker(settings, try Keys(source, follows: true), console) }
        switch recipients {
        case .one: preconditionFailure("one message has no lines")
        case .lines: try batch.run(file: file, worker: worker)
        case .list(let path): try batch.run(file: path, worker: worker)
        case .user(let user):
            if case .store = source,
                case .failure(let failure as Failure)?? = try keys.devices(for: [.user(user)]).first?.first
            {
                throw failure
            }
            let line = jsonObject { $0.string(user, for: "to_user") }
            try batch.run(worker: worker) { _ in LineReader(TextInput(line), maximumLine: .max) }
        case .all:
            guard case .store(let store, _) = source else {
                throw Failure.usage(
                    "--to-all and --signing-key-file exclude each other", hint: StoreArguments.keyFileHint)
            }
            try batch.run(worker: worker) { stop in DeviceLines(store, until: stop) }
        }
    }
}

/// The ids of all devices of a store as lines, in order. Devices that others add or remove meanwhile may or may not be among
/// them.
private struct DeviceLines: LineSource, Sendable {
    /// The devices of one chunk, about as many as a chunk of a file has lines.
    private static let count = 64

    private let store: SQLiteKeyStore
    private let stop: StopSignal
    private var page: DevicePage?
    /// Rows without a valid id.
    private var damaged = 0
    private var firstDamaged: KeyStoreError?
    private var line = 1
    private var chunks = 0
    private(set) var isAtEnd = false

    init(_ store: SQLiteKeyStore, until stop: StopSignal) {
        (self.store, self.stop) = (store, stop)
    }

    mutating func next() throws -> LineChunk? {
        guard !isAtEnd else { return nil }
        var ids: [String] = []
        while ids.isEmpty, page?.isLast != true {
            guard !stop.isRaised else { return nil }
            let next = try store.devicePage(after: page, count: Self.count)
            for entry in next.entries {
                do throws(KeyStoreError) {
                    ids.append(try entry.get())
                } catch {
                    damaged += 1
                    firstDamaged = firstDamaged ?? error
                }
            }
            page = next
        }
        // Some devices of one store and some of another are not all devices of either.
        guard try !store.version().isReplaced else {
            throw Failure.failed(
                "the store was replaced; stopped after \(line - 1) devices",
                hint: "seal again for the devices of the new store; with the same --id no phone shows it twice")
        }
        guard !ids.isEmpty else {
            isAtEnd = true
            // A row without an id has no line: reported once all other devices have been read.
            guard let firstDamaged else { return nil }
            throw Failure(
                firstDamaged, hint: "\(damaged) rows have ids that no device has; every other device is answered")
        }
        defer {
            line += ids.count
            chunks += 1
        }
        // No id contains a newline, or is blank.
        return LineChunk(
            number: chunks, firstLine: line, bytes: ContiguousArray((ids.joined(separator: "\n") + "\n").utf8))
    }
}

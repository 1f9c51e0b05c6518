internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Option {
    /// What `seal` can be told where it seals many messages.
    static let sealMany =
        batch + [
            Option(
                "--unencrypted", "WHAT", .choice(["refuse", "pass"]),
                help: "what becomes of a message for a device without a key ('to' is null): refuse is usual")
        ]
}

/// Seals many messages: those of a batch, or one for many devices.
func runSealMany(
    for recipients: SealRecipients, _ invocation: Invocation, _ console: Console
) throws(CommandFailure) -> ExitCode {
    let run = try BatchRun(
        "sealed", jobs: invocation.usualSealingJobs, hasClearContent: invocation.passesUnencrypted, invocation, console)
    let source = try SealSource(invocation, console)
    let batch = try SealBatch(for: recipients, from: source, invocation, console)
    // What is wrong with the keys is wrong for every line.
    _ = try withStoreErrors { () throws(KeyStoreError) in try source.keys() }
    let worker: @Sendable () throws(CommandFailure) -> SealWorker = { () throws(CommandFailure) in
        SealWorker(batch, try withStoreErrors { () throws(KeyStoreError) in try source.keys() })
    }
    switch recipients {
    case .one: preconditionFailure("one message is no batch")
    case .lines: return try run.run(file: invocation.operand("FILE"), worker: worker)
    case .list(let path): return try run.run(file: path, worker: worker)
    case .user(let user):
        try source.refuseUnknown(user)
        var json = JSONWriter()
        json.object { json in json.string(user, for: "to-user") }
        return try run.run(LineReader(TextInput(json.bytes), maximumLine: .max), worker: worker)
    case .all:
        guard case .store(let store, _) = source else {
            throw .usage(
                "--to-all and --sender-key-file exclude each other", hint: "a key file is used without a store")
        }
        return try run.run(DeviceLines(store, until: run.stop), worker: worker)
    }
}

extension SealSource {
    /// Refuses a user of the command line who has no device.
    fileprivate func refuseUnknown(_ user: String) throws(CommandFailure) {
        guard case .store(let store, _) = self else { return }
        let devices = try withStoreErrors { () throws(KeyStoreError) in
            try store.readDevices { (reader) throws(KeyStoreError) in try reader.devices(ofUser: user) }
        }
        guard devices.isEmpty else { return }
        let failure = LineFailure.noDevice(of: user)
        throw .usage("\(failure.code): \(failure.message)")
    }
}

extension SealBatch {
    /// Takes what the command line says, and the payload where one is sealed for all.
    fileprivate init(
        for recipients: SealRecipients, from source: SealSource, _ invocation: Invocation, _ console: Console
    ) throws(CommandFailure) {
        var payload: ContiguousArray<UInt8>?
        switch recipients {
        case .lines:
            if invocation.flag("--id") {
                throw .usage("--id names one message, and there are many", hint: "give each line its 'id'")
            }
            form = .messages
        case .all: form = .devices
        case .list, .user, .one: form = .recipients
        }
        options = try Sealer.Options(invocation, source)
        if form != .messages {
            let common = try console.read(invocation.operand("FILE"), limit: JSONDocument.defaultMaximumBytes)
            // What cannot be sealed for anybody is refused before anybody is looked for.
            do throws(SealError) {
                try PayloadCheck.refuseUnsealable(common, for: options.pushType, fitting: options.fitting)
            } catch {
                throw CommandFailure(error)
            }
            payload = common
        }
        self.payload = payload
        attachments = try console.readAttachments(invocation)
        overflow = try SealOverflow(invocation)
        topic = try invocation.topic()
        placeholder = PlaceholderChoice(invocation)
        headers = try RequestHeaders(invocation)
        emission = Emission(invocation)
        hasFacts = invocation.flag("--json")
        passesUnencrypted = invocation.passesUnencrypted
        log = invocation.logFormat
        now = { console.timestamp }
        // What is wrong in the command line is wrong for every line.
        _ = try Placeholder(placeholder)
    }
}

extension Invocation {
    /// Whether payloads go out as they are where a device has no key.
    fileprivate var passesUnencrypted: Bool { value("--unencrypted") == "pass" }
}

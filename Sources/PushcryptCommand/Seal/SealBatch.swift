internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// Seals many messages: those of a batch, or one payload for many devices.
func sealBatch(
    for recipients: SealRecipients, _ arguments: SealArguments, _ console: Console
) throws(CommandFailure) -> ExitCode {
    let run = try BatchRun(
        .sealed, jobs: Processors.count, hasClearContent: arguments.passesUnencrypted,
        log: arguments.log, arguments.batch, to: arguments.output, console)
    let source = try SealSource(arguments, console)
    let batch = try SealBatch(for: recipients, from: source, arguments, console)
    let stale = OnceWarning(console)
    // Wrong keys are wrong for every line.
    stale.give(ofStale: try withStoreErrors { () throws(KeyStoreError) in try source.keys() }.signers)
    let worker: @Sendable () throws(CommandFailure) -> SealWorker = { () throws(CommandFailure) in
        SealWorker(batch, try withStoreErrors { () throws(KeyStoreError) in try source.followingKeys() }, stale)
    }
    switch recipients {
    case .one: preconditionFailure("a single message is not a batch")
    case .lines: return try run.run(file: arguments.file, worker: worker)
    case .list(let path): return try run.run(file: path, worker: worker)
    case .user(let user):
        try source.refuseUnknown(user)
        var json = JSONWriter()
        json.object { json in json.string(user, for: "to_user") }
        return try run.run(LineReader(TextInput(json.bytes), maximumLine: .max), worker: worker)
    case .all:
        guard case .store(let store, _) = source else {
            throw .usage(
                "--to-all and --signing-key-file exclude each other", hint: "a key file is used without a store")
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
        throw CommandFailure(.line(.noDevice(of: user)), deviceGivenIn: "--to-user")
    }
}

// MARK: The batch

/// What the threads of a batch need to know: how to read its lines, and how to answer them.
final class SealBatch: Sendable {
    /// What a line is.
    enum Form {
        /// An object with a payload.
        case messages
        /// An id, a public key, or an object without a payload.
        case recipients
        /// The id of a device.
        case devices
    }

    let form: Form
    let settings: SealSettings
    /// The file for the body of the payload that all lines share; nil if each line brings its own payload.
    let file: SealOverflow.SharedFile?
    /// Whether answers have the facts of `--json`.
    let hasFacts: Bool
    let log: LogFormat?
    /// The members of a line that are read, and not passed through.
    let names: Set<String>
    /// The other members that an answer may have, which a line must not bring.
    let reserved: Set<String>
    /// Tells of what looks like a mistake in a line; nil if nobody is told.
    let warning: OnceWarning?

    init(
        _ form: Form, _ settings: SealSettings, hasFacts: Bool = false, log: LogFormat? = nil,
        _ warning: OnceWarning? = nil
    ) {
        self.warning = warning
        self.form = form
        self.settings = settings
        file = form == .messages ? nil : SealOverflow.SharedFile()
        self.hasFacts = hasFacts
        self.log = log
        var reserved: Set = ["unencrypted", "shortened"]
        if settings.overflow != nil { reserved.insert(SealOverflow.File.member) }
        if hasFacts { reserved.formUnion(SealedMessage.factNames) }
        var names = SealRequest.names
        if settings.emission.isRequest { names.formUnion(SealRequest.headerNames) }
        if settings.emission == .request { reserved.formUnion(PushRequest.memberNames) }
        if settings.emission == .relay {
            names.insert(PushAddress.grantName)
            reserved.formUnion(RelayMessage.memberNames)
        }
        self.names = names
        self.reserved = reserved.subtracting(names)
    }

    /// Reads the command line, and the payload if one is sealed for all.
    fileprivate convenience init(
        for recipients: SealRecipients, from source: SealSource, _ arguments: SealArguments, _ console: Console
    ) throws(CommandFailure) {
        let form: Form =
            switch recipients {
            case .lines: .messages
            case .all: .devices
            case .list, .user, .one: .recipients
            }
        if form == .messages, arguments.message.name != nil {
            throw .usage("--id names one message, and there are many", hint: "give each line its 'id'")
        }
        var settings = try SealSettings(arguments, console)
        try settings.complete(from: source)
        _ = try Placeholder(settings.request.placeholder)
        if form != .messages {
            let common = try console.read(arguments.file, limit: JSONDocument.defaultMaximumBytes)
            // A payload that cannot be sealed for any device is refused before devices are looked up.
            do throws(SealError) {
                try PayloadCheck.refuseUnsealable(
                    common, for: settings.request.options.pushType, fitting: settings.request.options.fitting)
            } catch {
                throw CommandFailure(error)
            }
            settings.request.payload = common
        }
        self.init(form, settings, hasFacts: arguments.isJSON, log: arguments.log, OnceWarning(console))
    }
}

// MARK: Threads

/// Seals the lines of a batch on one thread.
final class SealWorker: LineWorker {
    private let batch: SealBatch
    private let keys: SealingKeys
    private let stale: OnceWarning

    init(_ batch: SealBatch, _ keys: SealingKeys, _ stale: OnceWarning) {
        self.batch = batch
        self.keys = keys
        self.stale = stale
    }

    func answer(_ chunk: LineChunk, inParts write: @escaping Part) -> BatchAnswer {
        var items: [SealItem] = []
        chunk.forEachLine(maximum: BatchLine.maximumLength) { items.append(SealItem($0, $1, of: batch)) }
        var answer = SealAnswer(batch, lines: items.count, inParts: write)
        var rest = items[...]
        do throws(KeyStoreError) {
            try keys.refresh()
            defer { stale.give(ofStale: keys.signers) }
            while !rest.isEmpty, answer.isWanted {
                let devices = try keys.devices(for: rest.lazy.map(\.recipient))
                seal(rest, for: devices, into: &answer)
                rest = rest.dropFirst(devices.count)
            }
        } catch {
            // The next chunk may find the store usable again.
            for item in rest {
                if case .refused(let failure) = item.content {
                    answer.add(item, nil, .refused(.line(failure)))
                } else {
                    answer.add(item, nil, .refused(.store(error)))
                }
            }
        }
        return answer.rest
    }

    /// Seals the first items, for the devices of each.
    private func seal(
        _ items: ArraySlice<SealItem>, for devices: [[SealingKeys.Lookup]], into answer: inout SealAnswer
    ) {
        for (item, devices) in zip(items, devices) {
            guard answer.isWanted else { return }
            switch item.content {
            case .refused(let failure): answer.add(item, nil, .refused(.line(failure)))
            case .request(.keyless, let request): answer.add(item, nil, pass(request))
            case .request(_, let request):
                for device in devices where answer.isWanted { seal(item, request, device, into: &answer) }
            }
        }
    }

    private func seal(
        _ item: SealItem, _ request: SealRequest, _ device: SealingKeys.Lookup, into answer: inout SealAnswer
    ) {
        let outcome: SealOutcome
        do throws(SealFailure) {
            let target = try keys.target(request, try device.get(), batch.settings)
            outcome = .sealed(try target.seal(batch.settings, sharing: item.file))
        } catch {
            if item.skipsIfRemoved, error.isMissingDevice { return }
            outcome = .refused(error)
        }
        answer.add(item, try? device.get(), outcome)
    }

    /// Checks a payload that is not sealed, and makes its request if one is written.
    private func pass(_ request: SealRequest) -> SealOutcome {
        let settings = batch.settings
        guard settings.passesUnencrypted else { return .refused(.line(.noKey)) }
        do throws(SealFailure) {
            let sealer = settings.emission == .payload ? nil : try keys.sealer(for: request, nil, settings)
            return try pass(request, sealer)
        } catch {
            return .refused(error)
        }
    }

    private func pass(_ request: SealRequest, _ sealer: Sealer?) throws(SealFailure) -> SealOutcome {
        let options = request.options
        do throws(SealError) {
            _ = try options.messageID()
            guard options.withdrawing.isEmpty, !options.isDropped, !options.isAnswerable else {
                throw SealError(
                    .invalidRequest,
                    "a message that withdraws others, is dropped or can be answered cannot be sent unsealed")
            }
            let payload = try PayloadCheck.sendable(
                request.payload, for: options.pushType, isSentExactly: options.isSentExactly)
            let carrying = try sealer.map { (sealer) throws(SealError) in
                try sealer.request(
                    unsealed: payload, options, priority: request.headers.priority, at: batch.settings.now())
            }
            return .unencrypted(payload, carrying)
        } catch {
            throw .sealing(error)
        }
    }
}

// MARK: Answers

/// The answers to the lines of a chunk, as they are written.
private struct SealAnswer {
    /// How many bytes are gathered before they are written: a line for a user is repeated for every device, with all members
    /// that it passes through.
    private static let partLength = 2 << 20

    /// The part that is not written yet.
    private(set) var rest = BatchAnswer()
    /// Whether the answers can still be written.
    private(set) var isWanted = true

    private let batch: SealBatch
    private let write: SealWorker.Part

    init(_ batch: SealBatch, lines: Int, inParts write: @escaping SealWorker.Part) {
        self.batch = batch
        self.write = write
        rest.tally.lines = lines
    }

    /// Answers an item, for one of its devices if the store knows it by an id.
    mutating func add(_ item: SealItem, _ device: SealingKeys.Device?, _ outcome: SealOutcome) {
        if rest.output.count >= Self.partLength {
            isWanted = isWanted && write(rest)
            rest = BatchAnswer()
        }
        switch outcome {
        case .sealed(let message): add(item, device, message)
        case .unencrypted(let payload, let request): add(item, payload, request)
        case .refused(let failure): refuse(item, device?.id, LineFailure(failure))
        }
    }

    private mutating func add(_ item: SealItem, _ device: SealingKeys.Device?, _ message: SealedMessage) {
        rest.append { [batch] json in
            item.write(message, for: device, batch.settings.emission, withFacts: batch.hasFacts, to: &json)
        }
        rest.tally.done += 1
        rest.tally.bytes[message.payload.envelope.innerLength, default: 0] += message.payload.json.count
        log("sealed", item) { message.logFields + [("line", .number(item.number))] }
    }

    private mutating func add(_ item: SealItem, _ payload: ContiguousArray<UInt8>, _ request: PushRequest?) {
        rest.append { [batch] json in
            item.writeRecipient(nil, to: &json)
            batch.settings.emission.write(payload, request, to: &json)
            json.bool(true, for: "unencrypted")
            item.writeAddress(nil, to: &json)
            item.writePassed(to: &json)
        }
        rest.tally.unencrypted += 1
        log("unencrypted", item) { [("line", .number(item.number)), ("bytes", .number(payload.count))] }
    }

    private mutating func refuse(_ item: SealItem, _ device: String?, _ failure: LineFailure) {
        rest.append { json in
            failure.write(line: item.number, to: &json)
            item.writeRecipient(device, to: &json)
            item.writeOptions(to: &json)
            item.writePassed(to: &json)
        }
        rest.tally.refused[failure.code, default: 0] += 1
        log("refused", item) { [("line", .number(item.number)), ("code", .word(failure.code))] }
    }

    /// An object also has the caller's id and the time: in text, an id could look like more fields.
    private mutating func log(_ event: String, _ item: SealItem, _ fields: () -> [MessageFormat.Field]) {
        guard let format = batch.log else { return }
        var fields = fields()
        if format == .json {
            if let id = item.callerID { fields.append(("id", .word(id))) }
            fields.append(("time", .word("\(batch.settings.now())")))
        }
        rest.log.append(contentsOf: format.messages.line(event, fields))
    }
}

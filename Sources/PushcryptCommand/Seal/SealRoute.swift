internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// Who seals for whom, with keys from a store or from a file: all of a seal that no message decides.
struct SealRoute {
    let topic: Topic
    /// What the store says of placeholders.
    let placeholder: PlaceholderChoice

    /// The device's id, where the store has it.
    let device: String?

    private let sender: EnvelopeSigner
    private let recipient: DevicePublicKey
    /// The rotations of the sender's key that the recipient may not know yet.
    private let announcing: [RotationStatement]

    /// Takes the keys from a store. `to` is the id of a device, or a public key; `place` is where the caller gave it.
    init(
        store: SQLiteKeyStore, to: String, as place: String, _ choice: SealingKeys.SenderChoice,
        _ invocation: Invocation, _ console: Console
    ) throws(CommandFailure) {
        let device = to.hasPrefix(DeviceInput.keyPrefix) ? nil : try store.knownDevice(to)
        let keys = try withStoreErrors { () throws(KeyStoreError) in try SealingKeys.Sender(store, choice) }
        topic = try store.resolveTopic(
            invocation,
            bound: [("sender \(quoted(keys.name ?? ""))", keys.topic), ("device \(quoted(to))", device?.topic)])
        self.device = device?.id
        sender = keys.signer
        recipient = if let device { device.publicKey } else { try publicKey(to, in: place) }
        let now = console.timestamp
        placeholder = keys.placeholder
        announcing = keys.statements(to: device?.pinnedSender, now: now)
    }

    /// Takes the keys from where `seal` has them.
    init(
        _ source: SealSource, to: String, as place: String, _ invocation: Invocation, _ console: Console
    ) throws(CommandFailure) {
        switch source {
        case .store(let store, let sender):
            try self.init(store: store, to: to, as: place, sender, invocation, console)
        case .key(let signer): try self.init(signer: signer, to: to, as: place, invocation)
        }
    }

    /// Takes the sender's key, and no store.
    private init(
        signer: EnvelopeSigner, to: String, as place: String, _ invocation: Invocation
    ) throws(CommandFailure) {
        guard to.hasPrefix(DeviceInput.keyPrefix) else {
            throw .usage(
                "\(place) must be a public key (pcr1…) when there is no store to look \(quoted(to)) up in")
        }
        guard let topic = try invocation.topic() else {
            throw .usage("--topic is missing", hint: Option.topicHint)
        }
        device = nil
        sender = signer
        self.topic = topic
        recipient = try publicKey(to, in: place)
        announcing = []
        placeholder = PlaceholderChoice()
    }

    /// Makes what seals for this route.
    func sealer(_ placeholder: Placeholder) -> Sealer { Sealer(signer: sender, topic: topic, placeholder: placeholder) }

    /// One message, as `sealer` takes it.
    func message(_ payload: ContiguousArray<UInt8>, _ options: Sealer.Options, at now: Timestamp) -> Sealer.Message {
        var message = Sealer.Message(payload, to: recipient, at: now, options: options)
        message.options.announcing = announcing
        return message
    }
}

extension Sealer {
    /// Seals one message, and puts its body into a file where it is too long and that is wanted; a refusal ends the command.
    func seal(
        _ message: Message, overflow: SealOverflow?
    ) throws(CommandFailure) -> (SealedPayload, SealOverflow.File?) {
        var whole = message
        if overflow != nil { whole.options.fitting = [] }
        do throws(SealError) {
            return (try seal(whole), nil)
        } catch {
            guard let overflow, overflow.isNeeded(after: error) else { throw CommandFailure(error) }
            do throws(SealOverflow.Failure) {
                return try overflow.seal(
                    message, fitting: message.options.fitting, by: self, sharing: SealOverflow.SharedFile())
            } catch {
                throw error.ofCommand
            }
        }
    }
}

private func publicKey(_ text: String, in place: String) throws(CommandFailure) -> DevicePublicKey {
    do throws(KeyError) {
        return try DevicePublicKey(text: text)
    } catch {
        throw CommandFailure(error, inOption: place)
    }
}

extension SQLiteKeyStore {
    fileprivate func knownDevice(_ id: String) throws(CommandFailure) -> DeviceRecord {
        do throws(KeyStoreError) {
            return try readDevices { (reader) throws(KeyStoreError) in try reader.device(id: id).get() }
        } catch {
            guard error.code == .unknownDevice else { throw CommandFailure(error) }
            let failure = CommandFailure(error)
            throw CommandFailure(
                failure.exit, failure.message,
                hints: ["pushcrypt device list shows them"])
        }
    }
}

// MARK: What is told

extension SealedPayload {
    /// What `writeFacts` writes.
    static let factNames: Set = [
        "fingerprint", "message_id", "push_type", "bytes", "widest_bytes", "limit", "bucket",
    ]

    /// Writes what is known of the message from outside, beside what is written of it anyway.
    func writeFacts(to json: inout JSONWriter, beside emission: Emission = .payload) {
        json.string(envelope.fingerprint.description, for: "fingerprint")
        json.string(messageID.description, for: "message_id")
        if emission != .request { json.string(pushType.description, for: "push_type") }
        json.integer(self.json.count, for: "bytes")
        json.integer(maximumReencodedLength, for: "widest_bytes")
        json.integer(pushType.maximumPushLength, for: "limit")
        json.integer(envelope.innerLength, for: "bucket")
    }

    /// What a provider's log says of it, with nothing of the content: the names that `--json` has here and in `inspect`.
    /// More may be added at the end; what is there stays.
    var logFields: [MessageFormat.Field] {
        [
            ("fingerprint", .word(envelope.fingerprint.description)),
            ("recipient_key_id", .word(envelope.recipientKeyID.description)),
            ("message_id", .word(messageID.description)), ("bytes", .number(json.count)),
            ("bucket", .number(envelope.innerLength)),
        ]
    }
}

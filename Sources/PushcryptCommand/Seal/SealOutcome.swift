internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The outcome for one device: shown to the user by a single seal, written as a line by a batch.
enum SealOutcome {
    case sealed(SealedMessage)
    /// The payload as it is, for a device without a key; with the request that carries it unless the payload alone is written.
    case unencrypted(ContiguousArray<UInt8>, PushRequest?)
    case refused(SealFailure)
}

// MARK: Success

/// A sealed message, and the parts of the answer that go with it.
struct SealedMessage {
    let payload: SealedPayload
    /// The request that carries the payload; nil if the payload alone is written.
    let request: PushRequest?
    /// The message for a relay, if that is written.
    var relayMessage: RelayMessage?
    /// The file with the body, if that was too long.
    let overflow: SealOverflow.File?

    /// The members that `writeFacts` writes.
    static let factNames: Set = [
        "fingerprint", "message_id", "push_type", "bytes", "widest_bytes", "limit", "bucket",
    ]

    /// Writes everything an answer says about the message, into an object that the caller has begun.
    func write(_ emission: Emission, withFacts: Bool, to json: inout JSONWriter) {
        if let relayMessage {
            relayMessage.write(to: &json)
        } else {
            emission.write(payload.json, request, to: &json)
        }
        if withFacts { writeFacts(beside: emission, to: &json) }
        writeShortened(to: &json)
        overflow?.write(to: &json)
    }

    /// Writes what is known of the message without its keys; a request has the push type already.
    func writeFacts(beside emission: Emission, to json: inout JSONWriter) {
        json.string(payload.envelope.fingerprint.description, for: "fingerprint")
        json.string(payload.messageID.description, for: "message_id")
        if emission != .request { json.string(payload.pushType.description, for: "push_type") }
        json.integer(payload.json.count, for: "bytes")
        json.integer(payload.maximumReencodedLength, for: "widest_bytes")
        json.integer(payload.pushType.maximumPushLength, for: "limit")
        json.integer(payload.envelope.innerLength, for: "bucket")
    }

    private func writeShortened(to json: inout JSONWriter) {
        guard !payload.shortened.isEmpty else { return }
        json.object(for: "shortened") { json in
            for text in AlertText.allCases {
                if let count = payload.shortened[text] { json.integer(count, for: text.rawValue) }
            }
        }
    }

    /// The fields of the log line: nothing of the content, and the names that `--json` has here and in `inspect`. More may
    /// be added at the end; the others stay.
    var logFields: [MessageFormat.Field] {
        [
            ("fingerprint", .word(payload.envelope.fingerprint.description)),
            ("recipient_key_id", .word(payload.envelope.recipientKeyID.description)),
            ("message_id", .word(payload.messageID.description)), ("bytes", .number(payload.json.count)),
            ("bucket", .number(payload.envelope.innerLength)),
        ]
    }

    /// Tells the user which texts were shortened, and where to store the file.
    func report(_ console: Console) {
        if !payload.shortened.isEmpty {
            let texts = AlertText.allCases.compactMap { text in payload.shortened[text].map { "\(text) by \($0)" } }
            console.warning("shortened to fit, in characters: " + texts.joined(separator: ", "))
        }
        if let overflow {
            console.hint(
                "store \(quoted(overflow.path)) at \(overflow.fullBody.reference.url) before the push is sent")
        }
    }
}

extension Emission {
    /// Writes a payload, or the request that carries it, as members of an object that the caller has begun.
    func write(_ payload: ContiguousArray<UInt8>, _ request: PushRequest?, to json: inout JSONWriter) {
        switch self {
        case .payload, .relay: json.raw(payload, for: "payload")
        case .request: request?.write(to: &json)
        case .apns: json.raw(request?.simulatorFile ?? payload, for: "payload")
        }
    }

    /// Returns the text of a message that is written alone; a request is an object of more.
    func text(of message: SealedMessage) -> ContiguousArray<UInt8> {
        switch self {
        case .payload, .request, .relay: message.payload.json
        case .apns: message.request?.simulatorFile ?? message.payload.json
        }
    }
}

// MARK: Failure

/// The reason why a message is not sealed.
enum SealFailure: Error {
    /// The line itself is refused, or names a user or a device that cannot be sealed to.
    case line(LineFailure)
    case sealing(SealError)
    case store(KeyStoreError)
    /// An id or a user, and no store to look it up in.
    case noStore(String)
    case noTopic
    case topicConflict(TopicConflict)
    /// The body does not fit its file.
    case fullBody(AttachmentError)
    /// The file of the body cannot be written.
    case file(CommandFailure)

    /// A key that is bound to another topic than the message's.
    struct TopicConflict {
        let owner: Owner
        /// The topic that the owner is bound to.
        let bound: Topic
        /// The message's topic.
        let topic: Topic
        /// The provider key that decided the message's topic; nil if the caller did.
        let provider: String?

        enum Owner {
            case provider(String)
            case device(String)
        }
    }

    /// Whether the store has no such device, or none any more.
    var isMissingDevice: Bool {
        guard case .store(let error) = self else { return false }
        return [.unknownDevice, .removedDevice].contains(error.code)
    }
}

extension LineFailure {
    /// The answer to a line.
    init(_ failure: SealFailure) {
        switch failure {
        case .line(let failure): self = failure
        case .sealing(let error): self.init(error)
        case .store(let error): self.init(error)
        case .noStore(let name):
            self.init(
                KeyStoreError(
                    .unknownDevice,
                    "there is no store to look \(quoted(name)) up in: give the device's public key (pcr1…)"))
        case .noTopic:
            self.init(.noTopic, "no topic is given, and no key is bound to one: \(TopicArgument.hint)")
        case .topicConflict(let conflict):
            let owner =
                switch conflict.owner {
                case .provider: "the provider's key"
                case .device: "the device"
                }
            self.init(
                KeyStoreError(
                    .topicMismatch,
                    "\(owner) is bound to the topic \(conflict.bound), and the message is for \(conflict.topic)"))
        case .fullBody(let error): self.init(error)
        case .file(let failure): self.init(.overflowFailed, failure.message)
        }
    }

    static func noDevice(of user: String) -> LineFailure {
        LineFailure(.noDevice, "the user \(quoted(user)) has no device: add one with 'device add --user'")
    }
}

extension CommandFailure {
    /// The end of a single seal; `place` is the option or operand that names the device.
    init(_ failure: SealFailure, deviceGivenIn place: String) {
        switch failure {
        case .line(let failure): self = .usage("\(failure.code): \(failure.message)")
        case .sealing(let error): self.init(error)
        case .store(let error): self.init(error)
        case .noStore(let name):
            self = .usage("\(place) must be a public key (pcr1…) when there is no store to look \(quoted(name)) up in")
        case .noTopic: self = .usage("no topic is given, and no key is bound to one", hint: TopicArgument.hint)
        case .topicConflict(let conflict): self.init(conflict)
        case .fullBody(let error): self.init(error)
        case .file(let failure): self = failure
        }
    }

    private init(_ conflict: SealFailure.TopicConflict) {
        let owner =
            switch conflict.owner {
            case .provider(let name): "provider key \(quoted(name))"
            case .device(let id): "device \(quoted(id))"
            }
        let other = conflict.provider.map { "provider key \(quoted($0)) to" } ?? "--topic is"
        self = .usage(
            "\(owner) is bound to the topic \(conflict.bound), and \(other) \(conflict.topic)",
            hint: conflict.provider == nil
                ? "leave --topic out, or name another key" : "name the app's key with --sign-with")
    }
}

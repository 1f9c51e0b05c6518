internal import Pushcrypt
internal import PushcryptCommandKit

/// What a request to APNs has besides the message.
struct RequestHeaders: Sendable {
    /// The name under which pushes to a device replace each other; it leaves as a keyed hash only.
    var collapseName: String?
    var priority: PushRequest.Priority?

    /// The members of a line that only a request takes.
    static let names: Set = ["collapse-id", "priority"]
    /// What a request has that no line says.
    static let members: Set = ["push_type", "expiration", "collapse_id"]

    /// Takes what the command line says.
    init(_ invocation: Invocation) throws(CommandFailure) {
        for name in ["--collapse-id", "--priority"] where invocation.flag(name) && Emission(invocation) != .request {
            throw .usage("\(name) goes with --emit request", hint: "add --emit request, or leave \(name) out")
        }
        collapseName = invocation.value("--collapse-id")
        priority = invocation.value("--priority").flatMap { Int($0) }.flatMap(PushRequest.Priority.init(rawValue:))
    }

    /// Takes what a line says, and `defaults` for what it does not say.
    init(_ line: BatchLine, defaults: RequestHeaders) throws(LineFailure) {
        self = defaults
        if let name = try line.text("collapse-id") { collapseName = name }
        guard let value = line["priority"] else { return }
        guard let number = value.integer, let priority = PushRequest.Priority(rawValue: Int(clamping: number)) else {
            throw LineFailure(.malformedLine, "priority must be 10, 5 or 1")
        }
        self.priority = priority
    }

    /// The request that carries a sealed payload to a device, by its id in the store if it has one.
    func request(
        for sealed: SealedPayload, device: String?, by sealer: Sealer
    ) throws(SealError) -> PushRequest {
        try sealer.request(for: sealed, device: device, collapseName: collapseName, priority: priority)
    }

    /// The request that carries a payload as it is, to a device without a key: the collapse name is left out, because a hash of
    /// it would be the same for all such devices.
    func request(
        passing payload: ContiguousArray<UInt8>, _ options: Sealer.Options, by sealer: Sealer, topic: Topic,
        at now: Timestamp
    ) throws(SealError) -> PushRequest {
        let message = try options.messageID() ?? MessageID.random
        return try PushRequest(
            topic: topic, pushType: options.pushType, priority: priority,
            expiration: now.adding(options.timeToLive).milliseconds / 1000,
            collapseID: sealer.collapseID(withoutKey: message), payload: payload)
    }
}

extension MessageID {
    /// The id of a message that nobody will name again.
    fileprivate static var random: MessageID {
        let bytes = Sodium.randomBytes(length)
        guard let id = MessageID(bytes: bytes.span) else { preconditionFailure("a message id has another length") }
        return id
    }
}

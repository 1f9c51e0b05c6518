internal import Pushcrypt

/// What is written for a sealed message.
enum Emission: String, CaseIterable, Sendable {
    /// The payload to send.
    case payload
    /// The payload, and the headers to send it with.
    case request
    /// A file for the simulator of a phone: the payload, and the app that it is for.
    case apns
}

extension Option {
    /// What is written of a sealed message.
    static let sealEmission = [
        Option(
            "--emit", "FORM", .choice(Emission.allCases.map(\.rawValue)),
            help:
                "what is written: the payload (the usual), the request to APNs with its headers, or a file for a simulator"
        ),
        Option(
            "--collapse-id", "NAME",
            help:
                "with --emit request: pushes of this name to one device replace each other; only a keyed hash of it leaves; otherwise, and for a device without a key, a retry replaces its first copy"
        ),
        Option(
            "--priority", "N", .choice(PushRequest.Priority.allCases.map { "\($0.rawValue)" }),
            help: "with --emit request: when APNs delivers; otherwise 5 for a background push and 10 for others"),
    ]
}

extension Emission {
    /// Takes what the command line says.
    init(_ invocation: Invocation) {
        self = invocation.value("--emit").flatMap(Emission.init(rawValue:)) ?? .payload
    }
}

extension Emission {
    /// Writes a payload, or the request that carries it, into an object that the caller has begun; only a payload alone needs
    /// no request.
    func write(_ request: PushRequest?, _ payload: ContiguousArray<UInt8>, to json: inout JSONWriter) {
        switch self {
        case .payload: json.raw(payload, for: "payload")
        case .request: request?.write(to: &json)
        case .apns: json.raw(request?.simulatorFile ?? payload, for: "payload")
        }
    }
}

extension Emission {
    /// All that is written of a request, alone.
    func text(of request: PushRequest) -> ContiguousArray<UInt8> {
        switch self {
        case .payload: request.payload
        case .request: request.json
        case .apns: request.simulatorFile
        }
    }
}

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
            expiration: now.adding(seconds: UInt64(options.timeToLive)).milliseconds / 1000,
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

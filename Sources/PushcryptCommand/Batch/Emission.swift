internal import Pushcrypt

/// What is written for a sealed message.
enum Emission: String, CaseIterable, Sendable {
    /// The payload to send.
    case payload
    /// The payload, and the headers to send it with.
    case request
    /// A file for the simulator of a phone: the payload, and the app that it is for.
    case apns

    /// The members of a line that only a request takes.
    static let requestNames: Set = ["collapse-id", "priority"]
    /// What a request has besides the members of a line.
    static let requestMembers: Set = ["push_type", "expiration", "collapse_id"]
}

extension Option {
    static let emit = Option(
        "--emit", "FORM", .choice(Emission.allCases.map(\.rawValue)),
        help:
            "what is written: the payload (the usual), the request to APNs with its headers, or a file for a simulator")
}

extension Emission {
    /// Takes what the command line says.
    init(_ invocation: Invocation) {
        self = invocation.value(Option.emit.name).flatMap(Emission.init(rawValue:)) ?? .payload
    }
}

extension SealedPayload {
    /// The payload as the simulator of Xcode takes it from a file.
    func simulatorJSON(for topic: Topic) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in json.string(topic.bundleID, for: "Simulator Target Bundle") }
        var bytes = json.bytes
        bytes.removeLast()
        bytes.append(UInt8(ascii: ","))
        bytes.append(contentsOf: self.json.dropFirst())
        return bytes
    }
}

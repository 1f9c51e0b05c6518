internal import Pushcrypt
internal import PushcryptCommandKit

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

internal import Pushcrypt
internal import PushcryptCommandKit

extension Option {
    /// The options for one message.
    static let sealMessage = [
        Option(
            "--push-type", "TYPE", .known { ["alert", "background", "voip"] },
            help: "alert (the default), background or voip"),
        Option(
            "--ttl", "TIME", .duration(1...Int(Freshness.maximumTimeToLive)),
            help: "how long the message may be shown after now; otherwise the store's, otherwise 30d"),
        Option("--id", "NAME", help: "names the message, the same in every retry, so that a phone shows it once"),
        Option(flag: "--exact", help: "the sender sends these very bytes: measure them, and end without a newline"),
    ]

    /// The options for what is written.
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

/// The part of a sealed message that is written.
enum Emission: String, CaseIterable, Sendable {
    /// The payload to send.
    case payload
    /// The payload and the headers to send it with.
    case request
    /// A file for Apple's simulator: the payload and the app it is for.
    case apns
}

/// The headers of a request that the caller may choose.
struct RequestHeaders: Sendable {
    /// The name under which pushes to a device replace each other.
    var collapseName: String?
    var priority: PushRequest.Priority?
}

/// The settings that the command line gives for every message.
struct SealSettings: Sendable {
    var topic: Topic?
    var placeholder = PlaceholderChoice()
    var options = Sealer.Options()
    var attachments: [AttachmentReference] = []
    /// Where to put bodies that are too long, if anywhere.
    var overflow: SealOverflow?
    var emission = Emission.payload
    var headers = RequestHeaders()
    /// Whether a device without a key is sent its payload unsealed.
    var passesUnencrypted = false
    let now: @Sendable () -> Timestamp
}

// MARK: The command line

extension SealSettings {
    init(_ invocation: Invocation, _ source: SealSource, _ console: Console) throws(CommandFailure) {
        topic = try invocation.topic()
        placeholder = PlaceholderChoice(invocation)
        options = try Sealer.Options(invocation, source)
        attachments = try console.readAttachments(invocation)
        overflow = try SealOverflow(invocation)
        emission = Emission(invocation)
        headers = try RequestHeaders(invocation, emission)
        passesUnencrypted = invocation.passesUnencrypted
        now = { console.timestamp }
    }
}

extension Invocation {
    /// Whether payloads for devices without a key are written as they are.
    var passesUnencrypted: Bool { value("--unencrypted") == "pass" }
}

extension Sealer.Options {
    fileprivate init(_ invocation: Invocation, _ source: SealSource) throws(CommandFailure) {
        self.init()
        if let name = invocation.value("--push-type") {
            do throws(SealError) {
                pushType = try PushType(name)
            } catch {
                // One of Apple's other types says something about the payload; any other word is a typing mistake.
                guard PushType.readByTheSystem.contains(name) else { throw .usage("--push-type: \(error)") }
                throw CommandFailure(error)
            }
        }
        messageName = invocation.value("--id")
        let seconds = if let given = invocation.seconds("--ttl") { given } else { try source.timeToLive() }
        if let seconds { timeToLive = UInt32(clamping: seconds) }
        isSentExactly = invocation.flag("--exact")
        fitting = [AlertText](fitting: invocation)
    }
}

extension Emission {
    fileprivate init(_ invocation: Invocation) {
        self = invocation.value("--emit").flatMap(Emission.init(rawValue:)) ?? .payload
    }
}

extension RequestHeaders {
    fileprivate init(_ invocation: Invocation, _ emission: Emission) throws(CommandFailure) {
        for name in ["--collapse-id", "--priority"] where invocation.flag(name) && emission != .request {
            throw .usage("\(name) goes with --emit request", hint: "add --emit request, or leave \(name) out")
        }
        collapseName = invocation.value("--collapse-id")
        priority = invocation.value("--priority").flatMap { Int($0) }.flatMap(PushRequest.Priority.init(rawValue:))
    }
}

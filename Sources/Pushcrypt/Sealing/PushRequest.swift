/// Everything that a sender hands to APNs for one push, but for the device token and its own authentication.
///
/// `Sealer.request(for:device:collapseName:priority:expiration:)` makes one. The relay reads all of it.
public struct PushRequest: Hashable, Sendable {
    /// How soon APNs delivers: its `apns-priority`.
    public enum Priority: Int, CaseIterable, Sendable {
        /// At once; not for background pushes.
        case immediate = 10
        /// When it suits the device's battery.
        case conserving = 5
        /// When it suits the battery above all; such a push does not wake the device.
        case conservingAboveAll = 1
    }

    /// `apns-topic`: the bundle id, with `.voip` behind it for a call.
    public let topic: String
    /// `apns-push-type`.
    public let pushType: PushType
    /// `apns-priority`.
    public let priority: Priority
    /// `apns-expiration`: until when APNs keeps the push, in seconds since 1970-01-01 UTC; 0 has it delivered at once or not
    /// at all.
    public let expiration: UInt64
    /// `apns-collapse-id`: 32 characters that name the device and the message to the sender, and nothing to the relay.
    public let collapseID: String
    /// The body of the request: the JSON to send, unchanged.
    public let payload: ContiguousArray<UInt8>

    private let bundleID: String

    /// Takes headers and a payload, a minified JSON object that is not empty.
    ///
    /// - Throws: `invalidRequest` for a background push with priority 10, which APNs refuses.
    package init(
        topic: Topic, pushType: PushType, priority: Priority?, expiration: UInt64, collapseID: String,
        payload: ContiguousArray<UInt8>
    ) throws(SealError) {
        let priority = priority ?? pushType.standardPriority
        guard pushType != .background || priority != .immediate else {
            throw SealError(
                .invalidRequest, "APNs takes no background push with priority 10; leave it out, or say 5 or 1")
        }
        self.topic = topic.bundleID + pushType.topicSuffix
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
        bundleID = topic.bundleID
    }

    /// The names of the members of `json`.
    package static let memberNames: Set = [
        "topic", "push_type", "priority", "expiration", "collapse_id", "payload",
    ]

    /// A header of the request, under Apple's name.
    package enum Header: String, CaseIterable, Sendable {
        case topic = "apns-topic"
        case pushType = "apns-push-type"
        case priority = "apns-priority"
        case expiration = "apns-expiration"
        case collapseID = "apns-collapse-id"
    }

    /// Returns the value of a header, as it is sent.
    package func value(of header: Header) -> String {
        switch header {
        case .topic: topic
        case .pushType: pushType.description
        case .priority: "\(priority.rawValue)"
        case .expiration: "\(expiration)"
        case .collapseID: collapseID
        }
    }

    /// All of it as one JSON object, UTF-8: `topic`, `push_type`, `priority`, `expiration`, `collapse_id` and `payload`, an object.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in write(to: &json) }
        return json.bytes
    }

    /// Writes the members of `json` into an object that the caller has begun.
    package func write(to json: inout JSONWriter) {
        json.string(topic, for: "topic")
        json.string(pushType.description, for: "push_type")
        json.integer(priority.rawValue, for: "priority")
        json.integer(expiration, for: "expiration")
        json.string(collapseID, for: "collapse_id")
        json.raw(payload, for: "payload")
    }

    /// The payload as a file for a simulator of Apple's, which takes the app from `Simulator Target Bundle`: an `.apns` file.
    ///
    /// Such a simulator shows no calls.
    public var simulatorFile: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { $0.string(bundleID, for: "Simulator Target Bundle") }
        var bytes = json.bytes
        bytes.removeLast()
        bytes.append(UInt8(ascii: ","))
        bytes.append(contentsOf: payload.dropFirst())
        return bytes
    }
}

extension PushType {
    /// The priority that a push of this type has unless its sender says otherwise: 5 for `background`, else 10.
    var standardPriority: PushRequest.Priority { self == .background ? .conserving : .immediate }
}

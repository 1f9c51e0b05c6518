/// A complete request to APNs for one push, except for the device token and the provider's authentication.
///
/// `Sealer.request(for:device:collapseName:priority:)` creates one. The relay can read all of it.
public struct PushRequest: Hashable, Sendable {
    /// The urgency of delivery: `apns-priority`.
    public enum Priority: Int, CaseIterable, Sendable {
        /// Deliver at once; not for background pushes.
        case immediate = 10
        /// Consider the device's battery.
        case conserving = 5
        /// Put the battery first; such a push does not wake the device.
        case conservingAboveAll = 1
    }

    /// `apns-topic`: the bundle id, followed by `.voip` for a call.
    public let topic: String
    /// `apns-push-type`.
    public let pushType: PushType
    /// `apns-priority`.
    public let priority: Priority
    /// `apns-expiration`: the time until which APNs keeps the push, in seconds since 1970-01-01 UTC; 0 for a single
    /// delivery attempt.
    public let expiration: UInt64
    /// `apns-collapse-id`: 43 characters, a hash of the device and the message or its name.
    public let collapseID: String
    /// The body of the request: the JSON to send, unchanged.
    public let payload: ContiguousArray<UInt8>

    private let bundleID: String

    /// Creates a request from headers and a payload, a minified and non-empty JSON object.
    ///
    /// - Throws: `invalidRequest` for a background push with priority 10, which APNs refuses.
    package init(
        topic: Topic, pushType: PushType, priority: Priority?, expiration: UInt64, collapseID: String,
        payload: ContiguousArray<UInt8>
    ) throws(SealError) {
        let priority = priority ?? pushType.standardPriority
        guard pushType != .background || priority != .immediate else {
            throw SealError(
                .invalidRequest, "APNs refuses background pushes with priority 10; use 5 or 1, or leave it out")
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

    /// A header of the request, by Apple's name.
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

    /// The request as a JSON object in UTF-8: `topic`, `push_type`, `priority`, `expiration`, `collapse_id` and
    /// `payload`, an object.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in write(to: &json) }
        return json.bytes
    }

    /// Writes the members of `json` into an open object.
    package func write(to json: inout JSONWriter) {
        json.string(topic, for: "topic")
        json.string(pushType.description, for: "push_type")
        json.integer(priority.rawValue, for: "priority")
        json.integer(expiration, for: "expiration")
        json.string(collapseID, for: "collapse_id")
        json.raw(payload, for: "payload")
    }

    /// The payload as an `.apns` file for Apple's Simulator, which finds the app by `Simulator Target Bundle`.
    ///
    /// The Simulator does not show calls.
    package var simulatorFile: ContiguousArray<UInt8> {
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
    /// The default priority for a push of this type: 5 for `background`, otherwise 10.
    var standardPriority: PushRequest.Priority { self == .background ? .conserving : .immediate }
}

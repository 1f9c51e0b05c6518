public import Foundation

/// A push as a provider hands it to Apple: the JSON, and those headers that matter on a phone.
///
/// A text in the source is a push of type `alert`: `device.push(#"{"aps":{"alert":"Hello"}}"#)`.
public struct APNsPush: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The most bytes of JSON that Apple takes; more for `voip`.
    public static let maximumPayloadLength = 4096
    /// The most bytes of JSON that Apple takes for `voip`.
    public static let maximumVoIPPayloadLength = 5120
    /// The most bytes of a collapse id that Apple takes.
    public static let maximumCollapseIDLength = 64

    /// The JSON.
    public var payload: Data
    /// The header `apns-push-type`.
    public var type = "alert"
    /// The header `apns-collapse-id`: a later notification of this name takes an earlier one's place.
    public var collapseID: String?
    /// The header `apns-id`, a lower-case UUID; the device numbers pushes that have none.
    public var id: String?

    /// Takes the JSON and the headers, right or wrong: what Apple's servers would refuse, the device refuses.
    public init(_ payload: some Sequence<UInt8>, type: String = "alert", collapseID: String? = nil, id: String? = nil) {
        self.payload = Data(payload)
        self.type = type
        self.collapseID = collapseID
        self.id = id
    }

    /// Takes the JSON and the headers, right or wrong: what Apple's servers would refuse, the device refuses.
    public init(json: String, type: String = "alert", collapseID: String? = nil, id: String? = nil) {
        self.init(json.utf8, type: type, collapseID: collapseID, id: id)
    }

    /// Takes the JSON.
    public init(stringLiteral json: String) { self.init(json: json) }
}

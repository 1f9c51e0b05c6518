public import Foundation

/// A push as a provider sends it to Apple: the JSON, and the headers that have an effect on a phone.
///
/// A string literal is a push of type `alert`: `device.push(#"{"aps":{"alert":"Hello"}}"#)`.
public struct APNsPush: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The most bytes of JSON that Apple accepts, except for `voip`.
    package static let maximumPayloadLength = 4096
    /// The most bytes of JSON that Apple accepts for `voip`.
    package static let maximumVoIPPayloadLength = 5120
    /// The most bytes of a collapse id that Apple accepts.
    package static let maximumCollapseIDLength = 64

    /// The JSON.
    public var payload: Data
    /// The header `apns-push-type`.
    public var type = "alert"
    /// The header `apns-collapse-id`: a later notification with the same id replaces an earlier one.
    public var collapseID: String?
    /// The header `apns-id`, a lower-case UUID. The device numbers pushes without one.
    public var id: String?

    /// Creates a push from the JSON's bytes. Nothing is checked here: the device refuses what Apple's servers would
    /// refuse.
    public init(_ payload: some Sequence<UInt8>, type: String = "alert", collapseID: String? = nil, id: String? = nil) {
        self.payload = Data(payload)
        self.type = type
        self.collapseID = collapseID
        self.id = id
    }

    /// Creates a push from the JSON's text. Nothing is checked here: the device refuses what Apple's servers would
    /// refuse.
    public init(json: String, type: String = "alert", collapseID: String? = nil, id: String? = nil) {
        self.init(json.utf8, type: type, collapseID: collapseID, id: id)
    }

    /// Creates a push of type `alert` from the JSON's text.
    public init(stringLiteral json: String) { self.init(json: json) }
}

extension APNsPush {
    /// The reason that Apple's servers refuse the push; nil if they accept it.
    var refusal: SkipReason? {
        let limit = type == "voip" ? Self.maximumVoIPPayloadLength : Self.maximumPayloadLength
        if payload.count > limit { return .payloadTooLarge }
        if PushPayload(payload) == nil { return .notJSON }
        if let collapseID, !(1...Self.maximumCollapseIDLength).contains(collapseID.utf8.count) { return .badCollapseID }
        return nil
    }
}

/// The first reason that applies why the service extension did not run for a push.
public enum SkipReason: String, CaseIterable, Sendable, CustomStringConvertible {
    /// Apple refuses the push: its JSON exceeds 4096 bytes, or 5120 for `voip`.
    case payloadTooLarge = "payload-too-large"
    /// Apple refuses the push: it is not a JSON object.
    case notJSON = "not-json"
    /// Apple refuses the push: its collapse id is empty or exceeds 64 bytes.
    case badCollapseID = "bad-collapse-id"
    /// The push is not of type `alert`, so the app gets it.
    case notAlertPush = "not-alert-push"
    /// The push has neither alert nor sound nor badge.
    case silent
    /// The push has a sound and no alert.
    case soundOnly = "sound-only"
    /// The push has a badge and neither alert nor sound.
    case badgeOnly = "badge-only"
    /// The alert has no title, subtitle or body.
    case noAlertText = "no-alert-text"
    /// `mutable-content` is not the number 1.
    case notMutable = "not-mutable"
    /// The user has not allowed the app's notifications.
    case notPermitted = "not-permitted"
    /// The user has turned alerts off.
    case alertsOff = "alerts-off"
    /// The app has no service extension.
    case noExtension = "no-extension"

    /// Whether Apple's servers refuse the push, so that it never reaches a phone.
    package var isRefusal: Bool { [.payloadTooLarge, .notJSON, .badCollapseID].contains(self) }

    /// The reason for programs, for example `not-mutable`.
    public var description: String { rawValue }
}

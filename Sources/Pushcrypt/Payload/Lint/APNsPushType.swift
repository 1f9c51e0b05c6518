/// Apple's `apns-push-type`s, and what Apple's documents say of each. (Apple's "Sending notification requests to APNs")
enum APNsPushType: String, CaseIterable {
    case alert, background, complication, controls, fileprovider, liveactivity, location, mdm, pushtotalk, voip, widgets

    /// What stands behind the bundle id in the topic; nil where the topic is no bundle id at all.
    var topicSuffix: String? {
        switch self {
        case .alert, .background, .voip: sealable?.topicSuffix
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .mdm: nil
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        }
    }

    /// The type as it is sealed; nil where the system reads the push before any code of the app.
    var sealable: PushType? { try? PushType(rawValue) }

    /// The most bytes of JSON that Apple takes.
    var maximumPushLength: Int { (sealable ?? .alert).maximumPushLength }

    /// Whether a push of this type is about `aps` at all.
    var needsAPS: Bool {
        switch self {
        case .alert, .background, .controls, .liveactivity, .voip, .widgets: true
        case .complication, .fileprovider, .location, .mdm, .pushtotalk: false
        }
    }

    /// The type whose topics end so.
    init?(topic: String) {
        let type = Self.allCases.first { type in
            type.topicSuffix.map { !$0.isEmpty && topic.utf8.count > $0.utf8.count && topic.hasSuffix($0) } ?? false
        }
        guard let type else { return nil }
        self = type
    }
}

/// A type of push: a value of Apple's `apns-push-type`. (`Docs/Format.md`, Push types)
///
/// Only `alert`, `background` and `voip` can be sealed: the system reads pushes of other types before any of the app's code runs.
public struct PushType: Hashable, Sendable, CustomStringConvertible {
    fileprivate enum Known: String, CaseIterable {
        case alert, background, voip
        case complication, controls, fileprovider, liveactivity, location, mdm, pushtotalk, widgets
    }

    /// Apple's push types that the system reads before any of the app's code runs.
    package static let readByTheSystem = Known.allCases.filter { $0.pushClass == nil }.map(\.rawValue)

    private let known: Known

    /// Shown to the user; the notification service extension opens it.
    public static let alert = PushType(known: .alert)
    /// Wakes the app, which opens it; shows nothing.
    public static let background = PushType(known: .background)
    /// A call; the app opens it. At most 5120 bytes instead of 4096.
    public static let voip = PushType(known: .voip)

    private init(known: Known) {
        self.known = known
    }

    /// Creates a push type from Apple's name.
    ///
    /// - Throws: `pushTypeNotSealable` for any other name.
    public init(_ name: String) throws(SealError) {
        guard let known = Known(rawValue: name) else {
            throw SealError(
                .pushTypeNotSealable, "there is no push type of this name; alert, background and voip can be sealed")
        }
        self.known = known
    }

    /// Returns the push class that the provider signs; throws `pushTypeNotSealable` for one that the system reads.
    package func sealableClass() throws(SealError) -> PushClass {
        guard let pushClass = known.pushClass else {
            throw SealError(
                .pushTypeNotSealable,
                "the system reads a \(self) push before any of the app's code runs, so nothing could open it; send it without secrets"
            )
        }
        return pushClass
    }

    /// The longest push that Apple accepts, in bytes of JSON.
    package var maximumPushLength: Int { self == .voip ? 5120 : 4096 }

    /// The part of the topic after the bundle id.
    package var topicSuffix: String {
        switch known {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        }
    }

    /// The longest inner plaintext.
    package func largestBucket(_ suite: CipherSuite) -> Int {
        self == .voip ? Bucket.largest(suite) : Bucket.largestForAlert(suite)
    }

    /// The longest minified payload for a device whose key is of suite 1, in bytes. There is always room for a certificate.
    package var maximumPayloadLength: Int { maximumPayloadLength(.x25519) }

    /// The longest minified payload for a device whose key is of this suite, in bytes.
    package func maximumPayloadLength(_ suite: CipherSuite) -> Int {
        largestBucket(suite) - InnerPlaintext.body - Certificate.length
    }

    /// Apple's name.
    public var description: String { known.rawValue }
}

extension PushType.Known {
    /// Nil for a type that the system reads.
    fileprivate var pushClass: PushClass? {
        switch self {
        case .alert: .alert
        case .background: .background
        case .voip: .call
        default: nil
        }
    }
}

/// Apple's limit for the length of one push, and how the length is measured.
struct PushLimit {
    let pushType: PushType
    /// Whether the push reaches Apple byte for byte, so that its own length counts and not that of the longest
    /// re-encoding.
    let isSentExactly: Bool
    /// The suite of the recipient's key.
    let suite: CipherSuite

    /// Throws `pushTooLarge` for a length above the limit; `fix` says how to shorten the push.
    func check(_ length: Int, fix: String) throws(SealError) {
        let limit = pushType.maximumPushLength
        guard length <= limit else {
            throw .pushTooLarge(length, limit: limit, isSentExactly: isSentExactly, fix: fix)
        }
    }
}

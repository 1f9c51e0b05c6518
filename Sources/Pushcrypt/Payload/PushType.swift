/// The kinds of push that can be sealed: Apple's `apns-push-type`. (`Docs/Format.md`, Push types)
public struct PushType: Hashable, Sendable, CustomStringConvertible {
    private enum Known: String, CaseIterable {
        case alert, background, voip
    }

    /// The types of Apple's that the system acts on before any code of the app runs.
    package static let readByTheSystem = [
        "complication", "controls", "fileprovider", "liveactivity", "location", "mdm", "pushtotalk", "widgets",
    ]

    private let known: Known

    /// Shown to a person; the notification service extension opens it.
    public static let alert = PushType(known: .alert)
    /// Wakes the app, which opens it; shows nothing.
    public static let background = PushType(known: .background)
    /// A call; the app opens it. Up to 5120 bytes.
    public static let voip = PushType(known: .voip)

    private init(known: Known) {
        self.known = known
    }

    /// Takes the name of a push type; throws `pushTypeNotSealable` with the reason.
    public init(_ name: String) throws(SealError) {
        guard let known = Known(rawValue: name) else {
            throw SealError(
                .pushTypeNotSealable,
                Self.readByTheSystem.contains(name)
                    ? "the system reads a \(name) push before any code of the app, so nothing could open it; send it without secrets"
                    : "there is no push type of this name; those that can be sealed are alert, background and voip")
        }
        self.known = known
    }

    /// The most bytes of JSON that Apple takes.
    public var maximumPushLength: Int { self == .voip ? 5120 : 4096 }

    /// What stands behind the bundle id in the topic.
    package var topicSuffix: String { self == .voip ? ".voip" : "" }

    /// The largest inner plaintext.
    package var largestBucket: Int { self == .voip ? Bucket.largest : Bucket.largestForAlert }

    /// The most bytes of minified payload.
    public var maximumPayloadLength: Int { largestBucket - InnerPlaintext.body }

    /// The name as Apple writes it.
    public var description: String { known.rawValue }
}

/// Apple's limit for the length of one push, and how the length is measured.
struct PushLimit {
    let pushType: PushType
    /// The sender hands the bytes to Apple as they are.
    let isSentExactly: Bool

    /// Throws `pushTooLarge` for a length above the limit; `fix` says how to shorten the push.
    func check(_ length: Int, fix: String) throws(SealError) {
        let limit = pushType.maximumPushLength
        guard length <= limit else {
            throw .pushTooLarge(length, limit: limit, isSentExactly: isSentExactly, fix: fix)
        }
    }
}

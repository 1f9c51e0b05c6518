/// A type of push that can be sealed: a value of Apple's `apns-push-type`. (`Docs/Format.md`, Push types)
public struct PushType: Hashable, Sendable, CustomStringConvertible {
    private enum Known: String, CaseIterable {
        case alert, background, voip
    }

    /// Apple's push types that the system reads before any of the app's code runs.
    package static let readByTheSystem = [
        "complication", "controls", "fileprovider", "liveactivity", "location", "mdm", "pushtotalk", "widgets",
    ]

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
    /// - Throws: `pushTypeNotSealable`, with the reason.
    public init(_ name: String) throws(SealError) {
        guard let known = Known(rawValue: name) else {
            throw SealError(
                .pushTypeNotSealable,
                Self.readByTheSystem.contains(name)
                    ? "the system reads a \(name) push before any of the app's code runs, so nothing could open it; send it without secrets"
                    : "there is no push type of this name; alert, background and voip can be sealed")
        }
        self.known = known
    }

    /// The longest push that Apple accepts, in bytes of JSON.
    public var maximumPushLength: Int { self == .voip ? 5120 : 4096 }

    /// The part of the topic after the bundle id.
    package var topicSuffix: String { self == .voip ? ".voip" : "" }

    /// The longest inner plaintext.
    package func largestBucket(_ suite: CipherSuite) -> Int {
        self == .voip ? Bucket.largest(suite) : Bucket.largestForAlert(suite)
    }

    /// The longest minified payload for a device whose key is of suite 1, in bytes. There is always room for a certificate.
    public var maximumPayloadLength: Int { maximumPayloadLength(.x25519) }

    /// The longest minified payload for a device whose key is of this suite, in bytes.
    package func maximumPayloadLength(_ suite: CipherSuite) -> Int {
        largestBucket(suite) - InnerPlaintext.body - Certificate.length
    }

    /// What the provider signs that a push of this type is for.
    package var pushClass: PushClass {
        switch known {
        case .alert: .alert
        case .background: .background
        case .voip: .call
        }
    }

    /// Apple's name.
    public var description: String { known.rawValue }
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

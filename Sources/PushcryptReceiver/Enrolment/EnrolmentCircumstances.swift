public import Pushcrypt
internal import PushcryptKeyStore

/// What the app has of its enrolment state.
public enum SavedEnrolment: Sendable {
    /// There is no file: this installation has never enrolled. Only when the system says that there is none; whatever
    /// keys are found then were left by an earlier installation, and are deleted.
    case none
    /// There is a file, or may be one, and it cannot be read now.
    case unreadable
    /// What the file holds.
    case text(ContiguousArray<UInt8>)
    /// What the app has read before.
    case state(EnrolmentState)
}

/// What an installation is like at this launch.
public struct EnrolmentCircumstances: Hashable, Sendable {
    /// The version of the app, for example its `CFBundleShortVersionString`.
    public var appVersion: AppVersion?
    /// The device token that APNs has given; nil while it is not known, which changes nothing.
    public var pushToken: ContiguousArray<UInt8>?
    /// Whether the person lets the app show alerts. Without them the system never starts a service extension.
    public var alertsAreShown: Bool

    /// Takes what is known.
    public init(
        appVersion: AppVersion? = nil, pushToken: ContiguousArray<UInt8>? = nil, alertsAreShown: Bool = true
    ) {
        self.appVersion = appVersion
        self.pushToken = pushToken
        self.alertsAreShown = alertsAreShown
    }
}

/// Whom an installation believes before anybody has told it of another key.
public enum FirstTrust: Hashable, Sendable {
    /// A key that comes with the app: nothing on the network can put another in its place.
    case builtIn(SenderPublicKey)
    /// The key in the first reply of the provider: as good as the channel that this reply came through.
    case reply
}

/// When an installation acts although nothing has changed.
public struct EnrolmentPolicy: Hashable, Sendable {
    /// How old a device key becomes before another is made; 30 days. nil: never by itself.
    public var keyAge: Interval? = .days(30)
    /// How long a registration is taken for known to the provider, which may lose data; a day.
    public var repeatAfter = Interval.days(1)
    /// For how long a replaced key goes on opening what is under way; 31 days.
    public var grace = SQLiteKeyStore.standardGrace

    /// Takes the usual times.
    public init() {}
}

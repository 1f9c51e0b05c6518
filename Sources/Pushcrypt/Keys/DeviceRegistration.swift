/// What a phone tells its provider about its key, over the app's own authenticated channel.
///
/// (`Docs/Format.md`, Registration record)
public struct DeviceRegistration: Hashable, Sendable {
    /// The name under which the provider keeps the device; the phone may leave it to the provider. 1 to 255 bytes without
    /// control characters, not spaces alone, not beginning with `pcr1`: a record with another one is refused where it is read.
    public var deviceID: String?
    /// What to seal to.
    public var publicKey: DevicePublicKey
    /// Every suite that the device opens, in ascending order; the one of `publicKey` is among them.
    public var suites: [UInt8]
    /// The app the key is for; nil when the key is not bound to one.
    public var topic: Topic?
    /// Counts the device's keys; a provider refuses a lower one than it has.
    public var generation: UInt64
    /// When the key was made; nil when nobody has said.
    public var createdAt: Timestamp?
    /// The sender key that the device believes, so that the provider can stop announcing a rotation to it.
    public var pinnedSender: SenderPublicKey?
    /// The version of the app on the device.
    public var appVersion: AppVersion?

    /// Makes a record.
    public init(
        deviceID: String? = nil, publicKey: DevicePublicKey, suites: [UInt8] = [Envelope.suite], topic: Topic? = nil,
        generation: UInt64 = 1, createdAt: Timestamp?, pinnedSender: SenderPublicKey? = nil,
        appVersion: AppVersion? = nil
    ) {
        self.deviceID = deviceID
        self.publicKey = publicKey
        self.suites = suites
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
        self.pinnedSender = pinnedSender
        self.appVersion = appVersion
    }
}

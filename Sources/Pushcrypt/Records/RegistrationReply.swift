/// A provider's answer to a registration, over the app's own authenticated channel.
///
/// It names the key that the provider seals to from now on, so that a late or repeated answer does not confirm another
/// key. It can also name the provider's key, which an app without a built-in key pins first. (`Docs/FormatRecords.md`,
/// Registration reply)
public struct RegistrationReply: Hashable, Sendable {
    /// The version of the reply that this library reads and writes.
    package static let version = 1

    /// The outcome of a registration.
    public enum Verdict: Hashable, Sendable {
        /// The provider seals to this key from now on.
        case acknowledged(DevicePublicKey)
        /// The provider has refused the record.
        case refused(Refusal)
        /// The provider seals no more to the device with this id.
        case ended(String)
        /// The provider is there: the text of the phone's hello.
        case hello(String)
    }

    /// The reason for refusing a record: 1 to 64 lower-case letters, digits and hyphens.
    public struct Refusal: Hashable, Sendable, LosslessStringConvertible {
        static let maximumLength = 64

        /// The provider has a later key for this device id, or another one of the same generation: the device was
        /// restored from a backup and has to enrol again, with a new id and key.
        public static let generationRollback = Refusal(unchecked: "generation-rollback")
        /// The generation is too far above the stored one: the device has to enrol again.
        package static let generationTooHigh = Refusal(unchecked: "generation-too-high")
        /// The provider has this device id for another user: the device has to enrol again.
        public static let userMismatch = Refusal(unchecked: "user-mismatch")
        /// The provider has this public key for another device: the device has to enrol again.
        public static let keyTaken = Refusal(unchecked: "key-taken")
        /// The provider has a post-quantum key for this device id, and this one is of suite 1: the device has to enrol
        /// again, with a new id and key.
        package static let suiteDowngrade = Refusal(unchecked: "suite-downgrade")
        /// The provider cannot seal to a key of this suite: the device keeps the key before it.
        package static let unsupportedSuite = Refusal(unchecked: "unsupported-suite")
        /// Another phone has paired with this code.
        package static let pairingUsed = Refusal(unchecked: "pairing-used")
        /// The record breaks a rule.
        package static let malformedRecord = Refusal(unchecked: "malformed-record")
        /// The provider has this device id for another app.
        package static let topicMismatch = Refusal(unchecked: "topic-mismatch")
        /// Without a session: the provider has no such device, or its operator has removed it.
        public static let unknownDevice = Refusal(unchecked: "unknown-device")
        /// The record is not signed by the device's update key, or not for this channel.
        public static let badRecordSignature = Refusal(unchecked: "bad-record-signature")
        /// The provider has a later record of the device; the reply says its sequence.
        package static let staleRecord = Refusal(unchecked: "stale-record")

        /// The reason as programs read it.
        public let description: String

        /// Creates another reason; returns nil if the text is not valid.
        public init?(_ description: String) {
            guard (1...Self.maximumLength).contains(description.utf8.count),
                description.utf8.allSatisfy(\.isOfCode)
            else { return nil }
            self.init(unchecked: description)
        }

        private init(unchecked description: String) { self.description = description }
    }

    /// A member of a record that names a key which the provider never had.
    public struct ForeignMember: Hashable, Sendable, LosslessStringConvertible {
        /// The provider key that the phone has pinned.
        public static let provider = ForeignMember("provider")

        /// The name of the member.
        public let description: String

        /// Creates a member of this name, which a later version may define.
        public init(_ description: String) { self.description = description }
    }

    /// The outcome of the registration.
    public let verdict: Verdict
    /// The provider key.
    public let provider: ProviderPublicKey?
    /// The provider's current certificate; nil at epoch 0. A phone verifies it under the account's pins.
    public internal(set) var certificate: Certificate?
    /// Why the reply's certificate was left out when the reply was read; nil if it was not.
    package private(set) var certificateFault: TrustError?
    /// The key with which the provider signs requests to a relay, Ed25519.
    package var pushKey: SigningPublicKey?
    /// The key that will sign them after a time that the server has announced.
    package var nextPushKey: SigningPublicKey?
    /// The sequence of the provider's record; with `stale-record` alone.
    package var sequence: UInt64?
    /// Whether the relay has ended the grant in the record.
    package var isGrantEnded = false
    /// The members of the record that name a key the provider never had: somebody else enrolled the device, or has
    /// replaced the provider's key. No trust changes because of it.
    public let foreign: [ForeignMember]
    /// The suites of which the device may make a key, in ascending order.
    ///
    /// It only permits: a device with a key of suite 2 never goes back. Suite 2 is the operator's decision, because the
    /// largest payload falls from 2,596 to 1,508 bytes.
    public let suites: [UInt8]

    /// The suites of a provider that does not say.
    public static let standardSuites = [CipherSuite.x25519.rawValue]

    /// Creates a reply.
    public init(
        _ verdict: Verdict, provider: ProviderPublicKey? = nil, certificate: Certificate? = nil,
        foreign: [ForeignMember] = [], suites: [UInt8] = standardSuites
    ) {
        self.verdict = verdict
        self.provider = provider
        self.certificate = certificate
        self.foreign = foreign
        self.suites = suites
    }

    /// Parses a reply. Unknown members are ignored.
    ///
    /// - Throws: `malformedRecord` for anything but an object of version 1 with exactly one of its outcomes, or
    ///   the error of a key in the reply.
    public init(json: ContiguousArray<UInt8>) throws(KeyError) {
        let record = try KeyRecord(json)
        guard try record.number("version") == UInt64(Self.version) else {
            throw KeyError(
                .malformedRecord, "the reply's version is not \(Self.version), the only one that this library supports")
        }
        // First what is no text of a key.
        let (foreign, providerText) = (try record.foreign(), try record.text("provider"))
        let (pushKeyText, (certificate, fault)) = (try record.text("push_key"), try record.certificate())
        let (suites, nextText) = (try record.suites() ?? Self.standardSuites, try record.text("next_push_key"))
        let (sequence, ended, hello) = (
            try record.number("sequence"), try record.deviceID("ended"), try record.text("hello")
        )
        let isGrantEnded = try record.text("grant", "the word ended") { $0 == "ended" } != nil
        let verdict: Verdict
        switch (try record.text("acknowledged"), try record.text("refused"), ended, hello) {
        case (let key?, nil, nil, nil): verdict = .acknowledged(try DevicePublicKey(text: key))
        case (nil, nil, let device?, nil): verdict = .ended(device)
        case (nil, nil, nil, let text?): verdict = .hello(text)
        case (nil, let reason?, nil, nil):
            guard let refusal = Refusal(reason) else {
                throw KeyError(.malformedRecord, "the reply's refused is not a reason: lower-case words with hyphens")
            }
            verdict = .refused(refusal)
        default:
            throw KeyError(
                .malformedRecord, "the reply must have exactly one of acknowledged, refused, ended and hello")
        }
        let provider = try providerText.map(ProviderPublicKey.init(text:))
        let (pushKey, nextPushKey) = (
            try pushKeyText.map(SigningPublicKey.init(text:)), try nextText.map(SigningPublicKey.init(text:))
        )
        self.init(
            verdict, provider: provider, certificate: certificate, foreign: foreign, suites: suites)
        (certificateFault, self.pushKey, self.nextPushKey) = (fault, pushKey, nextPushKey)
        (self.sequence, self.isGrantEnded) = (sequence, isGrantEnded)
    }

    /// The reply as minified JSON.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(Self.version, for: "version")
            switch verdict {
            case .acknowledged(let key): json.string(key.description, for: "acknowledged")
            case .refused(let refusal): json.string(refusal.description, for: "refused")
            case .ended(let device): json.string(device, for: "ended")
            case .hello(let text): json.string(text, for: "hello")
            }
            if let sequence { json.integer(sequence, for: "sequence") }
            if let provider { json.string(provider.description, for: "provider") }
            if let certificate { json.string(certificate.description, for: "certificate") }
            if !foreign.isEmpty {
                json.array(for: "foreign") { json in for member in foreign { json.string(member.description) } }
            }
            if suites != Self.standardSuites {
                json.array(for: "suites") { json in for suite in suites { json.integer(suite) } }
            }
            if let pushKey { json.string(pushKey.text, for: "push_key") }
            if let nextPushKey { json.string(nextPushKey.text, for: "next_push_key") }
            if isGrantEnded { json.string("ended", for: "grant") }
        }
        return json.bytes
    }
}

@testable import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver

/// A phone in the middle of both rotations: a message that opens makes its pending key active and brings a certificate.
///
/// A push that fails here could have changed something: tests check that it did not.
struct Scene {
    /// A hostile relay's clear part around an envelope; a fallback keeps the title and that there is a sound.
    static let clearPart = #"""
        {"aps":{"mutable-content":1,"alert":{"title":"Bank","subtitle":"Send","body":"money","launch-image":"x"},
        "sound":"alarm.caf","category":"PAY","badge":9,"thread-id":"t","target-content-id":"w",
        "interruption-level":"critical"},"url":"https://example.com"
        """#
    static let fallback = Shown(title: "Bank", subtitle: "(Encrypted)", body: "", sound: true)
    static let notEncrypted = Shown(title: "Bank", subtitle: "", body: "(Encrypted)", sound: true)
    static let opened = Shown(title: "Table for two", body: "See you at 8", sound: true)

    static let now = Timestamp.start.plus(days: 1)

    let phone: Phone
    /// The pinned key, which signed messages itself.
    let provider = ProviderKey()
    /// The key that signs now, by the certificate.
    let signing: SigningCredential
    var certificate: Certificate { signing.certificate }
    let activeKey: DevicePublicKey
    let pendingKey: DevicePublicKey

    init(floor: Timestamp? = nil) throws {
        phone = try Phone(floor: floor)
        activeKey = try phone.newestKey().publicKey
        signing = try provider.certified(epoch: 1)
        let pin = ProviderPin(provider.publicKey)
        pendingKey = try phone.store.edit { state in
            try state.pin(pin)
            return try state.rotate(at: .start).publicKey
        }
    }

    /// The signer of the scene.
    var signer: EnvelopeSigner { get throws { try EnvelopeSigner(signing, for: .app) } }

    /// Seals as the scene has it, with one thing or another as the caller wants it.
    func envelope(
        _ payload: String = Provider.payload, by signer: EnvelopeSigner? = nil, to recipient: DevicePublicKey? = nil,
        as pushClass: PushClass = .alert, topic: Topic = .app, at sentAt: Timestamp = now, timeToLive: UInt32 = 60
    ) throws -> Envelope {
        let signer =
            try signer
            ?? (topic == .app
                ? self.signer : EnvelopeSigner(provider.certified(epoch: 1, topic: topic), for: topic))
        let body = (signer.certificate?.bytes ?? []) + Bytes(payload.utf8)
        let sealer = Sealer(signer: signer, topic: topic)
        let random = Randomness()
        let inner = InnerPlaintext(
            body.span, bucket: 1024, pushClass, sealer.hedgedID(of: body.span, at: sentAt, random), sentAt: sentAt,
            timeToLive: .seconds(UInt64(timeToLive)), by: signer)
        return try sealer.envelope(of: inner, to: recipient ?? pendingKey, random)
    }

    /// The push of an envelope, in a relay's clear part.
    static func push(_ envelope: Envelope) -> Bytes { push(value: "\"\(envelope.text)\"") }

    /// A push with any JSON value under `ENCRYPTED_DATA`, or without one.
    static func push(value: String?) -> Bytes {
        Bytes((clearPart + (value.map { ",\"ENCRYPTED_DATA\":\($0)" } ?? "") + "}").utf8)
    }

    func receive(
        _ push: Bytes, request: String? = nil, duplicates: DuplicatePolicy = .quiet
    ) -> NotificationReceiver.Reception {
        phone.receive(push, request: request, duplicates: duplicates, at: Self.now)
    }

    /// Tells whether a message has had both of its effects.
    var isSettled: Bool {
        get throws {
            try phone.store.keys().contains { $0.publicKey == pendingKey && $0.state == .active }
                && phone.certificate == certificate
        }
    }
}

extension ProviderKey {
    /// Makes a signing key with a certificate for the app; what was before opens until 38 days after the start, unless the
    /// floor says otherwise.
    func certified(epoch: UInt32, floor: UInt32 = 0, topic: Topic = .app) throws -> SigningCredential {
        let key = SigningKey()
        let plan = CertificatePlan(
            epoch: epoch, floor: floor, graceUntil: floor == epoch ? nil : .start.plus(days: 38), expiresAt: nil)
        let certificate = try UnsignedCertificate(plan, for: key.publicKey, provider: publicKey, topic: topic)
            .signed(by: self)
        return try SigningCredential(key, certificate, by: publicKey)
    }
}

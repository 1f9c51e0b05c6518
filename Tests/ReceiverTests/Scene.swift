@testable import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver

/// A phone in the middle of both rotations: a message that opens makes its pending key active and brings a new pin.
///
/// Whatever fails here had everything to change something.
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
    /// The pinned key, and the one that takes its place.
    let oldSender = ProviderKey()
    let newSender = ProviderKey()
    let statement: RotationStatement
    let activeKey: DevicePublicKey
    let pendingKey: DevicePublicKey

    init(floor: Timestamp? = nil, options: StoreOptions = StoreOptions()) throws {
        phone = try Phone(floor: floor, options: options)
        try phone.store.pinProvider(oldSender.publicKey, named: Phone.sender, at: .start)
        activeKey = try phone.newestKey().publicKey
        pendingKey = try phone.store.rotateDeviceKey(at: .start).publicKey
        statement = try RotationStatement(from: oldSender, to: newSender, at: .start)
    }

    /// Seals as the scene has it, with one thing or another as the caller wants it.
    func envelope(
        _ payload: String = Provider.payload, by sender: ProviderKey? = nil,
        announcing statements: [RotationStatement]? = nil, to recipient: DevicePublicKey? = nil, topic: Topic = .app,
        at sentAt: Timestamp = now, timeToLive: UInt32 = 60
    ) throws -> Envelope {
        let statements = statements ?? [statement]
        guard !statements.isEmpty else {
            return try seal(
                .payload, Bytes(payload.utf8), by: sender, to: recipient, topic: topic, at: sentAt,
                timeToLive: timeToLive)
        }
        let block = [UInt8(statements.count)] + statements.flatMap(\.bytes)
        return try seal(
            .rotationAndPayload, Bytes(block) + Bytes(payload.utf8), by: sender, to: recipient, topic: topic,
            at: sentAt,
            timeToLive: timeToLive)
    }

    /// Seals a body whatever it is.
    func seal(
        _ contentType: InnerPlaintext.ContentType, _ body: Bytes, by sender: ProviderKey? = nil,
        to recipient: DevicePublicKey? = nil, topic: Topic = .app, at sentAt: Timestamp = now, timeToLive: UInt32 = 60
    ) throws -> Envelope {
        let message = EnvelopeSealer.Message(
            contentType: contentType, sentAt: sentAt, timeToLive: timeToLive, id: nil)
        let key = sender ?? newSender
        let prepared = try EnvelopeSealer(signer: EnvelopeSigner(key), topic: topic).prepare(
            body.span, message, to: recipient ?? pendingKey, bucket: 1024, randomness: EnvelopeSealer.Randomness())
        let toSign = prepared.toSign
        let signature = key.signature(of: toSign.span)
        return try prepared.finish(signature: signature)
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
            try phone.store.deviceKeys().contains { $0.publicKey == pendingKey && $0.state == .active }
                && phone.pin == newSender.publicKey
        }
    }
}

@testable import Pushcrypt

/// A provider and a phone with the same keys in every run, and what the phone makes of a push.
struct FormatFixture {
    static let now = Timestamp(milliseconds: 1_790_000_000_000)

    /// The app of a fixture.
    static var app: Topic { get throws { try Topic("com.example.app") } }

    let topic: Topic
    let device: DeviceKey
    let provider: ProviderKey
    /// The certificate of epoch 1 or more; nil at epoch 0.
    let certificate: Certificate?
    private let signer: EnvelopeSigner

    init(
        topic: String = "com.example.app", device: UInt8 = 1, provider: UInt8 = 101, epoch: UInt32 = 0,
        expiresAt: Timestamp? = nil
    ) throws {
        self.topic = try Topic(topic)
        self.device = try Self.device(device)
        let key = try Self.provider(provider)
        self.provider = key
        if epoch > 0 {
            let issuer = Issuer(key, self.topic)
            signer = try issuer.signer(try issuer.certificate(epoch, expiresAt: expiresAt))
        } else {
            signer = EnvelopeSigner(key)
        }
        certificate = signer.certificate
    }

    var sealer: Sealer { sealer(.standard) }

    func sealer(_ placeholder: Placeholder) -> Sealer {
        Sealer(signer: signer, topic: topic, placeholder: placeholder)
    }

    static func device(_ number: UInt8) throws -> DeviceKey {
        try DeviceKey(scalar: Bytes(repeating: number, count: 32).span)
    }

    static func provider(_ number: UInt8) throws -> ProviderKey {
        try ProviderKey(seed: Bytes(repeating: number, count: 32).span)
    }

    /// Seals with a random source that gives the same bytes every time.
    func seal(
        _ payload: String, at now: Timestamp = Self.now, like options: Sealer.Message = Sealer.Message([]),
        placeholder: Placeholder = .standard, random: UInt8 = 0
    ) throws(SealError) -> SealedPayload {
        let random = Bytes(repeating: random, count: 32)
        var message = options
        message.payload = Bytes(payload.utf8)
        return try sealer(placeholder).seal(
            message, to: device.publicKey, at: now, Randomness(messageID: random.span, ephemeral: random.span))
    }

    /// The phone's receiver; it has pinned the provider unless told otherwise.
    func opener(trust: ProviderTrust? = nil) -> Opener {
        Opener(topic: topic, deviceKeys: [device], trust: trust ?? ProviderTrust(pinned: [provider.publicKey]))
    }

    /// The code that the phone gives for a text under `ENCRYPTED_DATA`, or nil if it opens.
    func refusal(of text: Bytes, at now: Timestamp = Self.now, as pushClass: PushClass = .alert) -> OpenError.Code? {
        do throws(OpenError) {
            _ = try opener().open(Envelope(text: text.span), at: now, as: pushClass)
            return nil
        } catch {
            return error.code
        }
    }
}

/// A small alert.
func alertPayload(_ body: String = "See you at 8") -> String { #"{"aps":{"alert":""# + body + #""}}"# }

/// An alert of so many bytes; at least 20.
func alertPayload(count: Int) -> String { alertPayload(String(repeating: "x", count: count - 20)) }

import Pushcrypt

@testable import PushcryptKeyStore

/// The one provider of most tests.
enum OneProvider {
    static let key = ProviderKey()
}

/// A provider that certifies whatever a test needs, with few signing keys: making one costs more than a signature.
struct TestProvider: Sendable {
    private static let signingKeys = (0..<8).map { _ in SigningKey() }

    let key: ProviderKey
    let topic: Topic

    init(_ key: ProviderKey = OneProvider.key, topic: String = "com.example.app") throws {
        self.key = key
        self.topic = try Topic(topic)
    }

    var publicKey: ProviderPublicKey { key.publicKey }

    static func signingKey(_ number: Int) -> SigningKey { signingKeys[number % signingKeys.count] }

    /// A certificate that ends the epochs before it after 38 days, or at once if it has its epoch as its floor.
    func certificate(_ epoch: UInt32, floor: UInt32 = 0, signing number: Int = 0) throws -> Certificate {
        let graceUntil = floor == epoch ? nil : start.adding(.days(38))
        let plan = CertificatePlan(epoch: epoch, floor: floor, graceUntil: graceUntil, expiresAt: nil)
        return try certificate(plan, signing: number)
    }

    func certificate(_ plan: CertificatePlan, signing number: Int = 0) throws -> Certificate {
        try UnsignedCertificate(
            plan, for: Self.signingKey(number).publicKey, provider: key.publicKey, topic: topic
        ).signed(by: key)
    }

    /// Seals as the server does that has the signing key of a certificate; as the provider key itself without one.
    func seal(
        _ certificate: Certificate?, signing number: Int = 0, to device: DevicePublicKey, at now: Timestamp,
        name: String? = nil, withdrawing: [String] = []
    ) throws -> Bytes {
        let signer =
            certificate.map {
                EnvelopeSigner(verified: $0, Self.signingKey(number), by: key.publicKey, for: topic)
            } ?? EnvelopeSigner(key)
        var message = Sealer.Message(Bytes(#"{"aps":{"alert":"x"}}"#.utf8))
        message.name = name
        message.withdrawing = withdrawing
        return try Sealer(signer: signer, topic: topic).seal(message, to: device, at: now).json
    }
}

extension TestProvider {
    /// A message as a phone opens it that knows nothing but the provider's key.
    func opened(
        with key: DeviceKey, _ certificate: Certificate? = nil, signing number: Int = 0
    ) throws -> OpenedNotification {
        let push = try seal(certificate, signing: number, to: key.publicKey, at: start)
        return try Opener(topic: topic, deviceKeys: [key], trust: ProviderTrust(pinned: [publicKey]))
            .open(push, at: start)
    }
}

extension ProviderTrust {
    /// The trust learned about the first pin.
    var learned: LearnedTrust { pins.first?.learned ?? LearnedTrust() }
}

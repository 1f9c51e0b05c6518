@testable import Pushcrypt

/// A provider key that certifies whatever a test asks for, with a signing key for each number.
struct Issuer {
    /// A certificate, and the key that it is about.
    struct Issued {
        let certificate: Certificate
        let key: SigningKey
    }

    let provider: ProviderKey
    let topic: Topic

    init(_ provider: ProviderKey, _ topic: Topic) {
        self.provider = provider
        self.topic = topic
    }

    /// The provider of `FormatFixture`.
    init() throws { self.init(try FormatFixture.provider(101), try FormatFixture.app) }

    /// Certifies; without a grace, for a day from the fixture's time, unless the floor has ended everything.
    func certificate(
        _ epoch: UInt32, floor: UInt32 = 0, graceUntil: Timestamp? = FormatFixture.now.adding(.days(1)),
        expiresAt: Timestamp? = nil, key number: UInt8? = nil
    ) throws -> Issued {
        let key = try SigningKey(
            seed: Bytes(repeating: number ?? UInt8(truncatingIfNeeded: 40 + epoch % 50), count: 32).span)
        let plan = CertificatePlan(
            epoch: epoch, floor: floor, graceUntil: floor == epoch ? nil : graceUntil, expiresAt: expiresAt)
        let unsigned = try UnsignedCertificate(
            plan, for: key.publicKey, provider: provider.publicKey, topic: topic)
        return Issued(certificate: try unsigned.signed(by: provider), key: key)
    }

    /// A signer with an issued key.
    func signer(_ issued: Issued) throws -> EnvelopeSigner {
        try EnvelopeSigner(SigningCredential(issued.key, issued.certificate, by: provider.publicKey), for: topic)
    }
}

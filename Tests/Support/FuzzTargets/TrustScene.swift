@testable import Pushcrypt

/// A phone that has seen some epochs, and certificates of every sort for it.
struct TrustScene {
    /// A certificate, and for which provider key it is good.
    struct Entry {
        let certificate: Certificate
        let provider: ProviderPublicKey?
        let signing: SigningKey
    }

    /// Two that are pinned, and one that is not.
    let providers = (1...3 as ClosedRange<UInt8>).map(KnownKeys.provider)
    let signing = (1...4 as ClosedRange<UInt8>).map(KnownKeys.signing)
    /// Of the first provider key: epoch 300 with floor 100, until tomorrow.
    let learned: LearnedTrust
    let trust: ProviderTrust
    let entries: [Entry]

    init() {
        let (now, day) = (KnownKeys.now.milliseconds, UInt64(86_400_000))
        let (providers, signing) = (providers, signing)
        func entry(
            _ epoch: UInt32, floor: UInt32 = 0, graceUntil: UInt64? = nil, expiresAt: UInt64 = .max, key: Int = 0,
            by provider: Int = 0, topic: Topic = KnownKeys.topic, isForged: Bool = false
        ) -> Entry {
            var fields = CertificateFields(signingKey: signing[key].publicKey.bytes)
            fields.epoch = epoch
            fields.floor = floor
            fields.graceUntil = graceUntil ?? (floor == epoch ? 0 : now + day)
            fields.expiresAt = expiresAt
            var bytes = fields.signed(by: providers[provider], for: topic)
            if isForged { bytes[120] ^= 1 }
            let certificate = KnownKeys.known { () throws(TrustError) in try Certificate(bytes: bytes.span) }
            let isGood = topic == KnownKeys.topic && !isForged
            return Entry(
                certificate: certificate, provider: isGood ? providers[provider].publicKey : nil, signing: signing[key])
        }
        let known = entry(300, floor: 100)
        learned = LearnedTrust(known.certificate)
        trust = ProviderTrust([
            ProviderTrust.Pin(providers[0].publicKey, learned), ProviderTrust.Pin(providers[1].publicKey),
        ])
        entries = [
            known, entry(200, key: 1), entry(99, key: 1), entry(100, key: 1), entry(300, floor: 100, key: 1),
            entry(400, key: 2), entry(400, floor: 400, key: 2), entry(400, graceUntil: now - 1, key: 2),
            entry(500, expiresAt: now - 1, key: 3), entry(500, expiresAt: now - 40 * day, key: 3),
            entry(500, expiresAt: now + day, key: 3), entry(.max, key: 3), entry(200, floor: 200, key: 1),
            entry(300, floor: 200, key: 2), entry(100, by: 1), entry(400, by: 2),
            entry(400, topic: KnownKeys.otherTopic), entry(400, isForged: true),
        ]
    }

    /// The entry of a certificate, by its bytes.
    func entry(_ bytes: Bytes) -> Entry? { entries.first { $0.certificate.bytes == bytes } }
}

/// A provider's key as phones get it, built into the app or sent by the provider. (`Docs/FormatRecords.md`)
package struct ProviderRecord: Hashable, Sendable {
    /// The key to pin.
    package let publicKey: ProviderPublicKey
    /// The app that the key is for; nil if the key is not bound to one.
    package let topic: Topic?
    /// The number of the key among the provider's keys.
    package let generation: UInt64
    /// When the key was generated.
    package let createdAt: Timestamp
    /// The current certificate; nil at epoch 0. The caller verifies it when it pins the key.
    package let certificate: Certificate?
    /// Why the record's certificate was left out when the record was read; nil if it was not.
    package let certificateFault: TrustError?

    /// Creates a record.
    package init(
        publicKey: ProviderPublicKey, topic: Topic?, generation: UInt64, createdAt: Timestamp,
        certificate: Certificate? = nil, certificateFault: TrustError? = nil
    ) {
        self.publicKey = publicKey
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
        self.certificate = certificate
        self.certificateFault = certificateFault
    }

    /// Parses a provider's record; `generation` is 1 and `created` is `now` if they are missing.
    ///
    /// - Throws: `malformedRecord`, or the error of the key in the record.
    package init(json: ContiguousArray<UInt8>, at now: Timestamp) throws(KeyError) {
        let record = try KeyRecord(json)
        let (keyText, keyID, topic) = (try record.publicKey(), try record.text("key_id"), try record.topic())
        let (generation, createdAt) = (try record.number("generation") ?? 1, try record.time("created") ?? now)
        let (certificate, fault) = try record.certificate()
        guard try record.suite() ?? 1 == 1 else {
            throw KeyError(.malformedRecord, "the record's suite is not 1, as for a provider's key")
        }
        let publicKey = try ProviderPublicKey(text: keyText)
        try KeyRecord.check(keyID, isOf: publicKey.id)
        self.init(
            publicKey: publicKey, topic: topic, generation: generation, createdAt: createdAt, certificate: certificate,
            certificateFault: fault)
    }

    /// The record as minified JSON.
    package var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(publicKey.description, for: "public_key")
            json.string(publicKey.id.description, for: "key_id")
            if let topic { json.string(topic.bundleID, for: "topic") }
            json.integer(generation, for: "generation")
            json.integer(createdAt.milliseconds, for: "created")
            if let certificate { json.string(certificate.description, for: "certificate") }
        }
        return json.bytes
    }
}

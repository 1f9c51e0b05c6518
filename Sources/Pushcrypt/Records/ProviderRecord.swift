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

    /// Creates a record.
    package init(
        publicKey: ProviderPublicKey, topic: Topic?, generation: UInt64, createdAt: Timestamp,
        certificate: Certificate? = nil
    ) {
        self.publicKey = publicKey
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
        self.certificate = certificate
    }

    /// Parses a provider's record; `generation` is 1 and `created` is `now` if they are missing.
    ///
    /// - Throws: `malformedRecord`, or the error of the key in the record.
    package init(json: ContiguousArray<UInt8>, at now: Timestamp) throws(KeyError) {
        let record = try KeyRecord(json)
        let (keyText, keyID, topic) = (try record.publicKey(), try record.text("key_id"), try record.topic())
        let (generation, createdAt) = (try record.number("generation") ?? 1, try record.time("created") ?? now)
        let certificateText = try record.text("certificate")
        guard try record.suite() ?? 1 == 1 else {
            throw KeyError(.malformedRecord, "the record's suite is not 1, as for a provider's key")
        }
        let publicKey = try ProviderPublicKey(text: keyText)
        let certificate = try certificateText.map(KeyRecord.certificate)
        try KeyRecord.check(keyID, isOf: publicKey.id)
        self.init(
            publicKey: publicKey, topic: topic, generation: generation, createdAt: createdAt, certificate: certificate)
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

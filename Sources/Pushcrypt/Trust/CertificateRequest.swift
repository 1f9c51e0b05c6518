/// A request for a certificate, made where a signing key is and carried to where the provider key is.
///
/// It holds no secret. The machine with the provider key computes epoch, floor and grace again, from the certificates in
/// it. (`Docs/FormatTrust.md`, Rotation)
///
///     {"version":1,"topic":"…","provider":"pcs1…","signing_key":"…","expires":7776000,"stolen":true,
///      "current":"…","past":[{"certificate":"…","replaced":1800000000000}],"proven":"…"}
///
/// `expires` is in seconds. A past epoch without a certificate is epoch 0.
package struct CertificateRequest: Hashable, Sendable {
    /// The maximum number of past epochs in a request.
    package static let maximumPast = 64
    fileprivate static let version = 1

    /// The app.
    package let topic: Topic
    /// The key that is to sign.
    package let provider: ProviderPublicKey
    /// The new signing key.
    package let signingKey: SigningPublicKey
    package let kind: CertificatePlan.Kind
    /// The life of the certificate; nil for ever.
    package let expires: Interval?
    /// The certificate in use; nil at epoch 0.
    package let current: Certificate?
    /// The epochs that were replaced within the last 38 days.
    package let past: [CertificatePlan.PastEpoch]
    /// A certificate that a phone has shown and the provider never issued.
    package let proven: Certificate?

    package init(
        topic: Topic, provider: ProviderPublicKey, signingKey: SigningPublicKey,
        _ kind: CertificatePlan.Kind = .planned,
        expires: Interval? = nil, current: Certificate?, past: [CertificatePlan.PastEpoch] = [],
        proven: Certificate? = nil
    ) {
        self.topic = topic
        self.provider = provider
        self.signingKey = signingKey
        self.kind = kind
        self.expires = expires
        self.current = current
        self.past = past.suffix(Self.maximumPast)
        self.proven = proven
    }

    /// Returns what the certificate will say, to be shown before it is signed.
    ///
    /// - Throws: `badSignature` or `weakKey` for certificates that are not of this key and app; `epochsExhausted`.
    package func plan(at now: Timestamp) throws(TrustError) -> CertificatePlan {
        for certificate in [current, proven] + past.map(\.certificate) {
            try certificate?.check(for: provider, topic: topic)
        }
        return try CertificatePlan(after: current, past: past, proven: proven, at: now, kind, expires: expires)
    }

    /// Signs the certificate.
    ///
    /// The caller first shows the app, the signing key's id and the plan to a person.
    ///
    /// - Throws: `wrongCertificate` for another provider key; the errors of ``plan(at:)``.
    package func certify(by key: ProviderKey, at now: Timestamp) throws(TrustError) -> SignedCertificate {
        let unsigned = try UnsignedCertificate(plan(at: now), for: signingKey, provider: provider, topic: topic)
        return SignedCertificate(topic: topic, provider: provider, certificate: try unsigned.signed(by: key))
    }

    // MARK: As a file

    /// The request as a JSON object.
    package var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(Self.version, for: "version")
            json.string(topic.bundleID, for: "topic")
            json.string(provider.description, for: "provider")
            json.string(signingKey.text, for: "signing_key")
            if let expires { json.integer(expires.seconds, for: "expires") }
            if kind == .stolen { json.bool(true, for: "stolen") }
            if let current { json.string(current.description, for: "current") }
            if !past.isEmpty {
                json.array(for: "past") { json in
                    for epoch in past {
                        json.object { json in
                            if let certificate = epoch.certificate {
                                json.string(certificate.description, for: "certificate")
                            }
                            json.integer(epoch.replacedAt.milliseconds, for: "replaced")
                        }
                    }
                }
            }
            if let proven { json.string(proven.description, for: "proven") }
        }
        return json.bytes
    }

    /// Parses a request as written by ``json``.
    ///
    /// - Throws: `malformedRequest`; `malformedCertificate` or `weakKey` for a certificate or the signing key in it.
    package init(json: ContiguousArray<UInt8>) throws(TrustError) {
        let fields = try TrustFields(json, "a request for a certificate")
        guard fields.root["certificate"] == nil else {
            throw TrustError(.malformedRequest, "this is a certificate already; install it, or certify its request")
        }
        let signingKey: SigningPublicKey
        do throws(KeyError) {
            signingKey = try SigningPublicKey(text: fields.text("signing_key"))
        } catch {
            throw TrustError(error.code == .weakKey ? .weakKey : .malformedRequest, "\(error)")
        }
        var past: [CertificatePlan.PastEpoch] = []
        let list = fields.root["past"].flatMap { $0.kind == .null ? nil : $0 }
        guard list.map({ $0.kind == .array && $0.elements.count <= Self.maximumPast }) != false else {
            throw fields.malformed
        }
        for element in list?.elements ?? [] {
            let epoch = try TrustFields(element, fields.what)
            guard let replaced = try epoch.number("replaced") else { throw fields.malformed }
            past.append(
                CertificatePlan.PastEpoch(
                    try epoch.certificate("certificate"), replacedAt: Timestamp(milliseconds: replaced)))
        }
        let stolen = fields.root["stolen"].flatMap { $0.kind == .null ? nil : $0 }
        guard stolen == nil || stolen?.bool != nil else { throw fields.malformed }
        self.init(
            topic: try fields.topic(), provider: try fields.provider(), signingKey: signingKey,
            stolen?.bool == true ? .stolen : .planned, expires: try fields.number("expires").map(Interval.seconds),
            current: try fields.certificate("current"), past: past, proven: try fields.certificate("proven"))
    }
}

/// The answer to a ``CertificateRequest``, carried back to where the signing key is.
///
///     {"version":1,"topic":"…","provider":"pcs1…","certificate":"…"}
package struct SignedCertificate: Hashable, Sendable {
    package let topic: Topic
    package let provider: ProviderPublicKey
    package let certificate: Certificate

    package init(topic: Topic, provider: ProviderPublicKey, certificate: Certificate) {
        self.topic = topic
        self.provider = provider
        self.certificate = certificate
    }

    /// Refuses an answer to another request.
    ///
    /// - Throws: `wrongCertificate`.
    package func check(answers request: CertificateRequest) throws(TrustError) {
        func wrong(_ what: String) -> TrustError {
            TrustError(.wrongCertificate, "the certificate is for \(what) than the one requested; certify that request")
        }
        guard topic == request.topic else { throw wrong("another app") }
        guard provider == request.provider else { throw wrong("another provider key") }
        guard certificate.signingKey == request.signingKey else { throw wrong("another signing key") }
    }

    /// The certificate as a JSON object.
    package var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(CertificateRequest.version, for: "version")
            json.string(topic.bundleID, for: "topic")
            json.string(provider.description, for: "provider")
            json.string(certificate.description, for: "certificate")
        }
        return json.bytes
    }

    /// Parses a certificate as written by ``json``, and verifies it.
    ///
    /// - Throws: `malformedRequest`, `malformedCertificate`, `weakKey` or `badSignature`.
    package init(json: ContiguousArray<UInt8>) throws(TrustError) {
        let fields = try TrustFields(json, "a signed certificate")
        guard fields.root["signing_key"] == nil else {
            throw TrustError(
                .malformedRequest, "this is a request that the provider key has not certified yet: certify it first")
        }
        guard let certificate = try fields.certificate("certificate") else { throw fields.malformed }
        self.init(topic: try fields.topic(), provider: try fields.provider(), certificate: certificate)
        try certificate.check(for: provider, topic: topic)
    }
}

/// The members of the two files. Unknown members are ignored, and null counts as absent.
private struct TrustFields {
    let root: JSONValue
    let what: String

    init(_ json: ContiguousArray<UInt8>, _ what: String) throws(TrustError) {
        guard let root = try? JSONDocument(parsing: json).root else { throw Self.malformed(what) }
        try self.init(root, what)
        guard root["version"]?.integer == Int64(CertificateRequest.version) else { throw malformed }
    }

    init(_ value: JSONValue, _ what: String) throws(TrustError) {
        guard value.kind == .object else { throw Self.malformed(what) }
        root = value
        self.what = what
    }

    var malformed: TrustError { Self.malformed(what) }

    private static func malformed(_ what: String) -> TrustError {
        TrustError(.malformedRequest, "this is not the file of \(what): copy the whole file")
    }

    func text(_ name: String) -> String { root[name]?.string ?? "" }

    func topic() throws(TrustError) -> Topic {
        guard let topic = try? Topic(text("topic")) else { throw malformed }
        return topic
    }

    func provider() throws(TrustError) -> ProviderPublicKey {
        guard let key = ProviderPublicKey(text("provider")) else { throw malformed }
        return key
    }

    func certificate(_ name: String) throws(TrustError) -> Certificate? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let text = value.string else { throw malformed }
        return try Certificate(text: text)
    }

    func number(_ name: String) throws(TrustError) -> UInt64? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let number = value.integer.flatMap(UInt64.init(exactly:)), number <= Timestamp.maximum.milliseconds else {
            throw malformed
        }
        return number
    }
}

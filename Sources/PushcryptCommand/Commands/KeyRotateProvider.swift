internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The rotation of the key that signs a provider's messages, by the provider key in the store, elsewhere or behind a signer.
struct ProviderRotation: Sendable {
    private let isStolen: Bool
    private let topic: TopicArgument
    private let lifetime: Interval?
    private let isRequest: Bool
    private let certificate: String?
    private let anyway: Bool
    private let signer: String?
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        arguments.group("of a provider's key")
        isStolen = arguments.flag("--stolen", help: "end all earlier keys at once, which somebody else may have")
        topic = TopicArgument(&arguments, help: "the app, if the key is not bound to it")
        lifetime = arguments.certificateLifetime()
        isRequest = arguments.flag(
            "--request",
            help: "with the provider key offline: make the signing key, and write a request for 'key certify'")
        certificate = arguments.value(
            "--install", "FILE", .input, help: "with the provider key offline: use what 'key certify' wrote")
        arguments.group("of a provider's key", isAdvanced: true)
        anyway = arguments.flag(
            "--anyway", help: "with --stolen: also if the provider key is in the store, where it does not help")
        signer = arguments.providerSigner()
        output = OutputArguments(&arguments, help: "with --request: the file for the request")
        arguments.atMostOne(of: "--request", "--install", "--provider-signer")
        arguments.option("--anyway", needs: "--stolen")
        arguments.option("--output", needs: "--request")
        arguments.option(
            "--install", excludes: ["--stolen", "--expires", "--topic", "--if-older-than"],
            hint: "the certificate says it already")
    }

    func run(_ key: RotatedKey, _ console: Console) throws {
        let record: ProviderKeyRecord
        if let certificate {
            let bytes = try console.readRecord(certificate)
            let signed = try naming(inputName(certificate)) { try SignedCertificate(json: bytes) }
            record = try install(signed, key, console)
        } else {
            let old = try chosen(key)
            if let text = clockWarning(issuedAt: old.signsSince, at: console.timestamp) { console.warning(text) }
            if let age = key.minimumAge, !old.signsSince.isOlder(than: age, at: console.timestamp) {
                return console.hintYoung(old.signsSince)
            }
            let topic = try topic.topic(console)
            if isRequest { return try request(of: old, topic, key, console) }
            if let signer {
                record = try rotate(old, topic, by: signer, key, console)
            } else {
                let rotated = try advising(hints) {
                    try key.store.rotateSigningKey(
                        named: old.name, topic: topic, ifOlderThan: key.minimumAge, stolen: isStolen, expires: lifetime,
                        anyway: anyway, at: console.timestamp)
                }
                guard let rotated else { return console.hintYoung(old.signsSince) }
                console.report(rotation: rotated)
                record = rotated
            }
        }
        if key.isJSON { try console.write(record.text(asJSON: true) + "\n") }
    }

    /// The named key, or the only one: of several, one would end that nobody meant.
    private func chosen(_ key: RotatedKey) throws -> ProviderKeyRecord {
        let records = try key.store.providerKeys()
        if key.name == nil, records.count > 1 {
            throw Failure(
                .usage,
                "the store has \(records.count) provider keys, and a rotation ends the signing key of one: name it",
                hints: records.map { "pushcrypt key rotate \(quoted($0.name)) ends \($0.signingText)" })
        }
        return try key.store.providerKey(named: key.name)
    }

    private var hints: [KeyStoreError.Code: String] {
        var hints: [KeyStoreError.Code: String] = [.topicMismatch: "--topic BUNDLE-ID names the app"]
        if isStolen, !anyway {
            hints[.rotationRefused] = "--anyway rotates all the same; see Stolen in Docs/Keys.md"
        }
        return hints
    }

    // MARK: The provider key elsewhere

    private func request(of old: ProviderKeyRecord, _ topic: Topic?, _ key: RotatedKey, _ console: Console) throws {
        let (request, replacesAnother) = try newRequest(of: old, topic, key, console)
        try console.deliver(String(decoding: request.json, as: UTF8.self) + "\n", to: output)
        if replacesAnother {
            console.hint("this request replaces the earlier one of \(quoted(old.name)): have this one certified")
        }
        console.changed("requested \(old.name): app \(request.topic), signing key \(request.signingKey.text)")
        console.hint("it does not sign yet: 'key certify' where the provider key is, then 'key rotate --install' here")
    }

    private func newRequest(
        of old: ProviderKeyRecord, _ topic: Topic?, _ key: RotatedKey, _ console: Console
    ) throws -> (request: CertificateRequest, replacesAnother: Bool) {
        try advising(hints) {
            try key.store.requestCertificate(
                for: old.name, topic: topic, stolen: isStolen, expires: lifetime, anyway: anyway, at: console.timestamp)
        }
    }

    private func install(
        _ signed: SignedCertificate, _ key: RotatedKey, _ console: Console
    ) throws -> ProviderKeyRecord {
        var isNew = false
        let record = try key.store.installCertificate(signed, named: key.name, at: console.timestamp) { _ in
            isNew = true
        }
        if isNew {
            console.report(rotation: record)
        } else {
            console.hint("the certificate of epoch \(record.epoch) was installed before: nothing has changed")
        }
        return record
    }

    private func rotate(
        _ old: ProviderKeyRecord, _ topic: Topic?, by program: String, _ key: RotatedKey, _ console: Console
    ) throws -> ProviderKeyRecord {
        let request = try newRequest(of: old, topic, key, console).request
        let unsigned = try UnsignedCertificate(
            request.plan(at: console.timestamp), for: request.signingKey, provider: request.provider,
            topic: request.topic)
        let certificate = try ProviderSigner(program: program, provider: request.provider).sign(unsigned)
        return try install(
            SignedCertificate(topic: request.topic, provider: request.provider, certificate: certificate), key, console)
    }
}

extension Console {
    fileprivate func report(rotation record: ProviderKeyRecord) {
        guard let certificate = record.certificate else { return }
        changed(
            "rotated \(record.name): signs at epoch \(record.epoch) from now on; "
                + earlierKeys(floor: certificate.floor, graceUntil: certificate.graceUntil))
    }
}

extension ProviderKeyRecord {
    /// The key that signs now, for people.
    fileprivate var signingText: String {
        let key = epoch == 0 ? "signing by provider key \(keyID) itself" : "the signing key of epoch \(epoch)"
        return "\(key), since \(signsSince)" + (topic.map { ", app \($0)" } ?? "")
    }
}

/// The end of the messages that earlier keys have signed, as a certificate has it, for people.
func earlierKeys(floor: UInt32, graceUntil: Timestamp?) -> String {
    guard let graceUntil else {
        return "what earlier keys signed opens no more on a phone that has got a push or a reply since"
    }
    let first = floor == 0 ? "earlier keys" : "keys from epoch \(floor) on"
    return "what \(first) signed opens until \(graceUntil)"
}

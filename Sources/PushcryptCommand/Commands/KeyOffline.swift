internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

// A provider key that is not in the store.

extension Command {
    static let keyOffline = Command(
        "offline", "move a provider key out of the store",
        about:
            "Writes the secret of a provider key to --output, reads it back, and destroys it in the store. If it signed messages itself, a signing key with a certificate takes over, and what it signed opens for 38 more days. Backups made before still hold the secret: destroy them. See Docs/Keys.md.",
        examples: ["pushcrypt key offline default -o provider.key"]
    ) { a in
        let topic = TopicArgument(&a, help: "the app, if the key is not bound to it")
        let path = a.requiredValue("--output", short: "-o", "FILE", .file, help: "the file for the secret key")
        let force = a.force()
        let (store, isJSON) = (StoreArguments(&a), a.json())
        let name = a.operand("NAME", help: "the provider key's name in the store")
        return { console in
            guard path != "-" else { throw Failure.usage("the secret key is written to a file, which is read back") }
            let topic = try topic.topic(console)
            let store = try console.open(store)
            let secret = try store.providerSecret(named: name)
            try secret.withText { text in try OutputFile.write(text, to: path, mode: 0o600, force: force) }
            // The store's copy is destroyed only if this one can be read.
            let saved = try console.readProviderKey(from: path)
            let record = try advising([.topicMismatch: "--topic BUNDLE-ID names the app"]) {
                try store.takeProviderKeyOffline(saved, named: name, topic: topic, at: console.timestamp)
            }
            if isJSON { try console.write(record.text(asJSON: true) + "\n") }
            console.changed("\(record.text(after: "moved")), to \(path)")
            console.hint(
                "backups made before still have the secret: destroy them, and move the file away from this machine")
        }
    }

    static let keyCertify = Command(
        "certify", "certify a signing key, where the provider key is",
        about:
            "Where the provider key is: certifies the signing key of a request that 'key rotate --request' wrote. Shows the app, the signing key, and what ends when; compare the key with what the server showed. Epoch, floor and grace follow from the certificates in the request. Uses no store.",
        examples: [
            "pushcrypt key certify request.json --provider-key-file provider.key -o certificate.json"
        ]
    ) { a in
        let keyFile = a.requiredValue(
            "--provider-key-file", "FILE", .secret, help: "the provider's secret key: a file, fd:N or -")
        let isAgreed = a.consent()
        let output = OutputArguments(&a)
        let file = a.operand("REQUEST", .input, help: "what 'key rotate --request' wrote")
        return { console in
            let bytes = try console.readRecord(file)
            let request = try naming(inputName(file)) { try CertificateRequest(json: bytes) }
            let key = try console.readProviderKey(from: keyFile)
            let now = console.timestamp
            let plan = try naming(inputName(file)) { try request.plan(at: now) }
            guard key.publicKey == request.provider else {
                throw TrustError(
                    .wrongCertificate,
                    "the request is for provider key \(request.provider.id), and this is \(key.id): give that key's file"
                )
            }
            let newest = request.past.map(\.replacedAt).max()
            if let text = clockWarning(issuedAt: newest, at: now) { console.warning(text) }
            console.hint(
                "app \(request.topic), provider key \(request.provider.id), signing key \(request.signingKey.text)")
            let isFirst = request.current == nil && request.proven == nil
            let reason =
                isFirst
                ? "the first"
                : request.kind == .stolen ? "after a theft" : request.proven == nil ? "planned" : "of a stale store"
            console.hint(
                "epoch \(plan.epoch), \(reason): \(earlierKeys(floor: plan.floor, graceUntil: plan.graceUntil)); "
                    + (plan.expiresAt.map { "expires at \($0)" } ?? "never expires"))
            if !isAgreed { try console.agree("certify this key?", otherwise: Arguments.consentHint) }
            let signed = try request.certify(by: key, at: now)
            try console.deliver(String(decoding: signed.json, as: UTF8.self) + "\n", to: output)
        }
    }
}

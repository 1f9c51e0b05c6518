internal import Pushcrypt

// The state as JSON, whose secrets stand before it in the order of its members: of each key its own, that of its signing key, that
// of the waiting one, and its answer secrets; then those of the push keys and of the pairings. Public keys and certificates
// are base64url.
//
//     {"keys":[{"name","topic","public_key","created","offline","signing":{"certificate","since"},
//               "past":[{"certificate","replaced"}],"request":{"topic","public_key","stolen"},"proven",
//               "answers":[{"created","replaced"}]}],
//      "default","push_key":{"public_key","created"},"next_push_key":{"public_key","created"},
//      "pairings":[{"id","url","topic","provider","user","replaces","created",
//                   "claim":{"time","device","key","update_key"}}],
//      "settings":[{"name","value"}]}
extension ProviderState {
    /// Reads a state completely or not at all; throws `newerVersion` or `corruptStore`.
    init(parsing data: Span<UInt8>) throws(KeyStoreError) {
        let form = try SecretForm(parsing: data)
        guard let root = try? JSONDocument(parsing: form.json, maximumBytes: .max).root else { throw .damagedState }
        let value = StateReader(root)
        var secrets = form.secrets[...]
        keys = try value.list("keys") { (value) throws(KeyStoreError) in try Key(value, &secrets) }
        defaultName = try value.text("default")
        push = try value.object("push_key") { (value) throws(KeyStoreError) in try Push(value, secrets.take()) }
        nextPush = try value.object("next_push_key") { (value) throws(KeyStoreError) in
            try Push(value, secrets.take())
        }
        pairings = try value.list("pairings") { (value) throws(KeyStoreError) in try Pairing(value, secrets.take()) }
        let settings = try value.list("settings") { (value) throws(KeyStoreError) in
            (try value.text("name") as String, try value.text("value") as String)
        }
        self.settings = Dictionary(settings) { first, _ in first }
        guard secrets.isEmpty, isConsistent, self.settings.count == settings.count else { throw .damagedState }
    }

    var form: SecretForm {
        var json = JSONWriter()
        json.object { json in
            json.list(keys, for: "keys") { $0.write(to: &$1) }
            json.text(defaultName, for: "default")
            for case (let push?, let name) in [(push, "push_key"), (nextPush, "next_push_key")] {
                json.object(for: name) { json in
                    json.bytes(push.record.publicKey.bytes, for: "public_key")
                    json.time(push.record.createdAt, for: "created")
                }
            }
            json.list(pairings, for: "pairings") { $0.write(to: &$1) }
            json.list(settings.sorted { $0.key < $1.key }, for: "settings") { setting, json in
                json.object { json in
                    json.string(setting.key, for: "name")
                    json.string(setting.value, for: "value")
                }
            }
        }
        return SecretForm(secrets: secrets, json: json.bytes)
    }

    /// The secrets, in the order of the form.
    var secrets: [Secret] {
        keys.flatMap { key in
            [key.secret, key.signing?.secret, key.request?.secret].compactMap(\.self) + key.answers.map(\.secret)
        } + [push?.secret, nextPush?.secret].compactMap(\.self) + pairings.map(\.secret)
    }

    private var isConsistent: Bool {
        let isInOrder = zip(keys, keys.dropFirst()).allSatisfy { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return isInOrder && Set(keys.map(\.publicKey.id)).count == keys.count && keys.allSatisfy(\.isConsistent)
            && (defaultName == nil || keys.contains { isDefault($0.name) })
            && Set(pairings.map(\.id)).count == pairings.count && (push != nil || nextPush == nil)
    }
}

extension ArraySlice<Secret> {
    fileprivate mutating func take() throws(KeyStoreError) -> Secret {
        guard let secret = popFirst() else { throw .damagedState }
        return secret
    }
}

extension ProviderState.Key {
    fileprivate init(_ value: StateReader, _ secrets: inout ArraySlice<Secret>) throws(KeyStoreError) {
        self.init(
            name: try value.text("name"), topic: try value.topic("topic"),
            publicKey: try value.providerKey("public_key"), createdAt: try value.time("created"))
        secret = try value.flag("offline") ? nil : try secrets.take()
        signing = try value.object("signing") { (value) throws(KeyStoreError) in
            try ProviderState.Signing(value, secrets.take())
        }
        past = try value.list("past") { (value) throws(KeyStoreError) in
            CertificatePlan.PastEpoch(try value.certificate("certificate"), replacedAt: try value.time("replaced"))
        }
        request = try value.object("request") { (value) throws(KeyStoreError) in
            try ProviderState.Request(value, secrets.take())
        }
        proven = try value.certificate("proven")
        answers = try value.list("answers") { (value) throws(KeyStoreError) in
            ProviderState.Answers(
                createdAt: try value.time("created"), replacedAt: try value.time("replaced"),
                secret: try secrets.take())
        }
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(name, for: "name")
            json.text(topic?.bundleID, for: "topic")
            json.bytes(publicKey.bytes, for: "public_key")
            json.time(createdAt, for: "created")
            json.flag(secret == nil, for: "offline")
            if let signing {
                json.object(for: "signing") { json in
                    json.bytes(signing.certificate.bytes, for: "certificate")
                    json.time(signing.since, for: "since")
                }
            }
            json.list(past, for: "past") { epoch, json in
                json.object { json in
                    json.bytes(epoch.certificate?.bytes, for: "certificate")
                    json.time(epoch.replacedAt, for: "replaced")
                }
            }
            if let request {
                json.object(for: "request") { json in
                    json.string(request.topic.bundleID, for: "topic")
                    json.bytes(request.publicKey.bytes, for: "public_key")
                    json.flag(request.kind == .stolen, for: "stolen")
                }
            }
            json.bytes(proven?.bytes, for: "proven")
            json.list(answers, for: "answers") { answers, json in
                json.object { json in
                    json.time(answers.createdAt, for: "created")
                    json.time(answers.replacedAt, for: "replaced")
                }
            }
        }
    }

    fileprivate var isConsistent: Bool {
        let epochs = (past + [CertificatePlan.PastEpoch(certificate, replacedAt: createdAt)]).map(\.epoch)
        return StoreName.isAllowed(name) && (secret != nil || signing != nil) && (signing == nil || topic != nil)
            && zip(epochs, epochs.dropFirst()).allSatisfy(<) && answers.dropLast().allSatisfy { $0.replacedAt != nil }
    }
}

extension ProviderState.Signing {
    fileprivate init(_ value: StateReader, _ secret: Secret) throws(KeyStoreError) {
        guard let certificate = try value.certificate("certificate") else { throw .damagedState }
        self.init(certificate: certificate, since: try value.time("since"), secret: secret)
    }
}

extension ProviderState.Request {
    fileprivate init(_ value: StateReader, _ secret: Secret) throws(KeyStoreError) {
        guard let topic = try value.topic("topic"), let key = try value.signingKey("public_key") else {
            throw .damagedState
        }
        self.init(topic: topic, publicKey: key, kind: try value.flag("stolen") ? .stolen : .planned, secret: secret)
    }
}

extension ProviderState.Push {
    fileprivate init(_ value: StateReader, _ secret: Secret) throws(KeyStoreError) {
        guard let key = try value.signingKey("public_key") else { throw .damagedState }
        self.init(record: PushKeyRecord(publicKey: key, createdAt: try value.time("created")), secret: secret)
    }
}

extension ProviderState.Pairing {
    fileprivate init(_ value: StateReader, _ secret: Secret) throws(KeyStoreError) {
        guard let id = try value.bytes("id"), let topic = try value.topic("topic") else { throw .damagedState }
        self.init(
            id: id, url: try value.text("url"), topic: topic, provider: try value.providerKey("provider"),
            user: try value.text("user"), replaces: try value.text("replaces"), createdAt: try value.time("created"),
            claim: try value.object("claim", Claim.init), secret: secret)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.bytes(id, for: "id")
            json.string(url, for: "url")
            json.string(topic.bundleID, for: "topic")
            json.bytes(provider.bytes, for: "provider")
            json.text(user, for: "user")
            json.text(replaces, for: "replaces")
            json.time(createdAt, for: "created")
            if let claim {
                json.object(for: "claim") { json in
                    json.time(claim.time, for: "time")
                    json.string(claim.device, for: "device")
                    json.bytes(claim.key.bytes, for: "key")
                    json.bytes(claim.updateKey.bytes, for: "update_key")
                }
            }
        }
    }
}

extension ProviderState.Pairing.Claim {
    fileprivate init(_ value: StateReader) throws(KeyStoreError) {
        guard let updateKey = try value.signingKey("update_key") else { throw .damagedState }
        self.init(
            time: try value.time("time"), device: try value.text("device"), key: try value.deviceKey("key"),
            updateKey: updateKey)
    }
}

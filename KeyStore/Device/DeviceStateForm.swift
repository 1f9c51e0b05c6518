internal import Pushcrypt

// The state as JSON, whose secrets stand before it in the order of its keys: of each account those of its device keys, then
// that of its update key. Public keys and certificates are base64url.
//
//     {"accounts":[{"name","topic","keys":[{"public_key","generation","state","created","retires"}],
//                   "pins":[{"key","origin"}],"update_key","registration":{…}}],
//      "learned":[{"provider","topic","certificate","floor","contradicted"}],
//      "installation","ends":[{"account","post","address"}],"relay":{"origin","ends_all","ended":[GRANT]}}
extension DeviceState {
    /// Reads a state completely or not at all; throws `newerVersion` or `corruptStore`.
    init(parsing data: Span<UInt8>) throws(KeyStoreError) {
        let form = try SecretForm(parsing: data)
        guard let root = try? JSONDocument(parsing: form.json, maximumBytes: .max).root else { throw .damagedState }
        let value = StateReader(root)
        var secrets = form.secrets[...]
        accounts = try value.list("accounts") { (value) throws(KeyStoreError) in try Account(value, &secrets) }
        learned = try value.list("learned", Learned.init)
        installation = try value.text("installation")
        ends = try value.list("ends", End.init)
        relay = try value.object("relay", Relay.init)
        guard secrets.isEmpty, isConsistent else { throw .damagedState }
    }

    var form: SecretForm {
        var json = JSONWriter()
        json.object { json in
            json.list(accounts, for: "accounts") { $0.write(to: &$1) }
            json.list(learned, for: "learned") { $0.write(to: &$1) }
            json.text(installation, for: "installation")
            json.list(ends, for: "ends") { $0.write(to: &$1) }
            relay?.write(to: &json)
        }
        let secrets = accounts.flatMap { $0.keys.map(\.secret) + [$0.updateKey?.secret].compactMap(\.self) }
        return SecretForm(secrets: secrets, json: json.bytes)
    }

    /// The secrets of all keys.
    var secrets: [Secret] { form.secrets }

    private var isConsistent: Bool {
        let ids = accounts.flatMap { $0.keys.map(\.keyID) }
        return Set(accounts.map { Bytes($0.name.utf8) }).count == accounts.count && Set(ids).count == ids.count
            && accounts.allSatisfy(\.isConsistent)
            && Set(learned.map { $0.provider.bytes + Bytes($0.topic.bundleID.utf8) }).count == learned.count
    }
}

extension DeviceState.Account {
    fileprivate init(_ value: StateReader, _ secrets: inout ArraySlice<Secret>) throws(KeyStoreError) {
        self.init(try value.text("name"), try value.topic("topic"))
        keys = try value.list("keys") { (value) throws(KeyStoreError) in try DeviceState.Key(value, secrets.popFirst())
        }
        pins = try value.list("pins", DeviceState.Pin.init)
        registration = try value.object("registration", DeviceState.Registration.init)
        guard let publicKey = try value.signingKey("update_key") else { return }
        guard let secret = secrets.popFirst() else { throw .damagedState }
        updateKey = DeviceState.UpdateKey(publicKey: publicKey, secret: secret)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(name, for: "name")
            json.text(topic?.bundleID, for: "topic")
            json.list(keys, for: "keys") { $0.write(to: &$1) }
            json.list(pins, for: "pins") { $0.write(to: &$1) }
            json.text(updateKey?.publicKey.text, for: "update_key")
            registration?.write(to: &json)
        }
    }

    fileprivate var isConsistent: Bool {
        StoreName.isAllowed(name) && zip(keys, keys.dropFirst()).allSatisfy { $0.generation < $1.generation }
            && pins.count <= ProviderTrust.maximumPins && Set(pins.map(\.key)).count == pins.count
            && keys.allSatisfy { ($0.state == .retiring) == ($0.retiresAt != nil) }
            // Otherwise one key is active, and only the newest may be pending.
            && (keys.isEmpty || keys.count { $0.state == .active } == 1)
            && keys.dropLast().allSatisfy { $0.state != .pending }
    }
}

extension DeviceState.Key {
    fileprivate init(_ value: StateReader, _ secret: Secret?) throws(KeyStoreError) {
        guard let secret, let state = try value.optional("state", State.init(rawValue:)) else { throw .damagedState }
        self.init(
            publicKey: try value.deviceKey("public_key"), generation: try value.number("generation"), state: state,
            createdAt: try value.time("created"), retiresAt: try value.time("retires"),
            secret: secret)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.bytes(publicKey.bytes, for: "public_key")
            json.integer(generation, for: "generation")
            json.string(state.rawValue, for: "state")
            json.integer(createdAt.milliseconds, for: "created")
            json.time(retiresAt, for: "retires")
        }
    }
}

extension DeviceState.Pin {
    fileprivate init(_ value: StateReader) throws(KeyStoreError) {
        guard let origin = try value.optional("origin", Origin.init(rawValue:)) else { throw .damagedState }
        self.init(key: try value.providerKey("key"), origin: origin)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.bytes(key.bytes, for: "key")
            json.string(origin.rawValue, for: "origin")
        }
    }
}

extension DeviceState.Learned {
    fileprivate init(_ value: StateReader) throws(KeyStoreError) {
        guard let topic = try value.topic("topic"), let floor = UInt32(exactly: try value.number("floor")) else {
            throw .damagedState
        }
        self.init(
            provider: try value.providerKey("provider"), topic: topic,
            trust: LearnedTrust(try value.certificate("certificate"), floor: floor),
            isContradicted: try value.flag("contradicted"))
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.bytes(provider.bytes, for: "provider")
            json.string(topic.bundleID, for: "topic")
            json.bytes(trust.certificate?.bytes, for: "certificate")
            json.integer(trust.floor, for: "floor")
            json.flag(isContradicted, for: "contradicted")
        }
    }
}

@testable import Pushcrypt
@testable import PushcryptKeyStore

/// The stored form of a state: whatever it is, it is read completely or not at all, and what was read is written and read again.
/// Sealed, it opens under its own name and revision alone.
///
/// Input: what it is, then a form, edits of a genuine one, or edits of a sealed one.
struct StateScene<State: SealedState> {
    private let revision = Bytes(repeating: 7, count: 16)
    private let keys = StoreKeys(storeKey: SecretBytes(copying: Bytes(repeating: 0x55, count: 32).span))
    private let genuine: Bytes
    private let sealed: Bytes

    private let use: (State) -> Void

    private init(_ form: SecretForm, _ use: @escaping (State) -> Void) {
        let bytes = form.bytes().withSpan { Bytes(copying: $0) }
        (genuine, sealed) = (bytes, keys.seal(bytes.span, named: State.row, revision))
        self.use = use
    }

    func run(_ choices: inout Choices) {
        let form = choices.byte()
        switch form & 3 {
        case 0: check(choices.rest())
        case 1:
            var bytes = genuine
            for _ in 0..<3 where !choices.isEmpty { bytes.edit(&choices) }
            check(bytes)
        default:
            var (bytes, revision) = (sealed, revision)
            if form & 4 == 0 { bytes.edit(&choices) } else { revision.edit(&choices) }
            let name = form & 8 == 0 ? "device" : "provider"
            let isGenuine = bytes == sealed && revision == self.revision && name == State.row
            require(
                ((try? keys.open(bytes, named: name, revision)) != nil) == isGenuine,
                "row: a state opens as it was sealed, and in no other place")
        }
    }

    private func check(_ bytes: Bytes) {
        guard let state = try? State(parsing: bytes.span) else {
            return require(bytes != genuine, "row: a state as it was written is read")
        }
        let written = state.form.bytes().withSpan { Bytes(copying: $0) }
        require(bytes != genuine || written == genuine, "row: a state is written with the same bytes")
        require((try? State(parsing: written.span)) == state, "row: a state that was read is written and read again")
        use(state)
    }
}

extension StateScene<DeviceState> {
    static var device: StateScene {
        let secrets =
            [KnownKeys.device, KnownKeys.otherDevice].map { $0.withScalar { Secret(copying: $0) } }
            + [KnownKeys.signing(1).withSeed { Secret(copying: $0) }]
        return StateScene(SecretForm(secrets: secrets, json: Bytes(json.utf8))) { state in
            for account in state.accounts {
                require(account.pins.count <= ProviderTrust.maximumPins, "row: an account has two pins at most")
                for key in account.keys {
                    let used = try? key.deviceKey()
                    require(
                        used == nil || used?.publicKey == key.publicKey, "row: a secret is used for its own public key")
                }
            }
            var next = state
            for account in state.accounts where !account.keys.isEmpty {
                _ = try? next.rotate(account.name, at: KnownKeys.now)
                _ = try? next.confirm(account.name, at: KnownKeys.now)
            }
            next.purge(endedBefore: Timestamp(milliseconds: .max))
        }
    }

    /// An account that has something of everything.
    private static var json: String {
        let (pin, signing) = (KnownKeys.provider(1).publicKey, KnownKeys.signing(1).publicKey.text)
        let certificate = TrustScene().entries[0].certificate
        func text(_ bytes: Bytes) -> String { Base64URL.string(bytes.span) }
        let devices = [KnownKeys.device, KnownKeys.otherDevice].map { text($0.publicKey.bytes) }
        let provider = text(pin.bytes)
        let grant =
            #"{"grant":"Gr-4_nt","secret":"s","push_key":"\#(signing)","address":"0a1b","issued":5,"ends":7}"#
        let end = Bytes(
            #"{"device":"5d0f","provider":"\#(pin)","nonce":"AAAAAAAAAAAAAAAAAAAAAA","sequence":9007199254740991,"ended":true}"#
                .utf8)
        let signature = String(repeating: "A", count: 86)
        return #"{"accounts":[{"name":"alice","topic":"com.example.app","keys":[{"public_key":"\#(devices[0])","#
            + #""generation":1,"state":"retiring","created":5,"retires":7},{"public_key":"\#(devices[1])","#
            + #""generation":2,"state":"active","created":6}],"pins":[{"key":"\#(provider)","origin":"app"}],"#
            + #""update_key":"\#(signing)","registration":{"device":"00112233","sequence":9007199254740990,"#
            + #""address":"https://home.example.net/push","key_made":5,"post_quantum":true,"refused":6,"#
            + #""push_key":"\#(signing)","next_push_key":"\#(signing)","grants":[\#(grant)],"#
            + #""report":{"public_key":"\#(devices[1])","provider":"\#(provider)","app_version":"2.3.1","token":"0a1b","#
            + #""environment":"development","grant":"2c3d"},"acknowledged":8}}],"#
            + #""learned":[{"provider":"\#(provider)","topic":"com.example.app","#
            + #""certificate":"\#(certificate)","floor":100,"contradicted":true}],"installation":"4455","#
            + #""ends":[{"account":"bob","post":{"record":"\#(text(end))","signature":"\#(signature)"},"#
            + #""address":"https://home.example.net/push"}],"#
            + #""relay":{"origin":"https://push.example.com","ends_all":true,"ended":[\#(grant)]}}"#
    }
}

extension StateScene<ProviderState> {
    /// A state that has something of everything.
    static var provider: StateScene {
        var state = ProviderState()
        let (now, topic, trust) = (KnownKeys.now, KnownKeys.topic, TrustScene())
        let (key, offline) = (trust.providers[0], trust.providers[1])
        KnownKeys.known { () throws(KeyStoreError) in
            try state.add(key.publicKey, secret: Secret(of: key), named: "a", topic: nil, at: now)
            try state.add(offline.publicKey, secret: Secret(of: offline), named: "b", topic: topic, at: now)
            _ = try state.rotate("b", Rotation(), to: trust.signing[0], at: now)
            _ = try state.takeOffline(offline, named: "b", topic: nil, at: now)
            _ = try state.request(for: "b", Rotation(), to: trust.signing[1], at: now)
        }
        let secret = Bytes(repeating: 0x5a, count: 32)
        state.keys[1].proven = trust.entries[0].certificate
        state.keys[1].answers = [
            ProviderState.Answers(createdAt: now, replacedAt: now, secret: Secret(copying: secret.span)),
            ProviderState.Answers(createdAt: now, secret: Secret(copying: secret.span)),
        ]
        state.push = ProviderState.Push(
            record: PushKeyRecord(publicKey: KnownKeys.signing(1).publicKey, createdAt: now),
            secret: Secret(of: KnownKeys.signing(1)))
        let claim = ProviderState.Pairing.Claim(
            time: now, device: "phone1", key: KnownKeys.device.publicKey, updateKey: KnownKeys.signing(1).publicKey)
        state.pairings = [
            ProviderState.Pairing(
                id: Bytes(repeating: 1, count: 8), url: "https://home.example.net/pair", topic: topic,
                provider: key.publicKey, user: "alice", replaces: "phone1", createdAt: now, claim: claim,
                secret: Secret(copying: secret.span.extracting(0..<16)))
        ]
        state.settings = ["topic": "com.example.app", "title": ""]
        return StateScene(state.form) { state in
            for key in state.keys {
                let used = try? key.providerKey()
                require(used == nil || used?.publicKey == key.publicKey, "row: a secret is used for its own public key")
                let waiting = try? key.request?.signingKey()
                require(
                    waiting == nil || waiting?.publicKey == key.request?.publicKey,
                    "row: a waiting key is used for its own request")
                _ = try? key.credential()
            }
            var next = state
            for key in state.keys {
                _ = try? next.rotate(key.name, Rotation(), to: trust.signing[0], at: now)
                _ = try? next.request(for: key.name, Rotation(), to: trust.signing[1], at: now)
                _ = try? next.remove(key.name)
            }
            require(next.keys.isEmpty && next.defaultName == nil, "row: every key can be removed")
        }
    }
}

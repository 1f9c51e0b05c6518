@testable import Pushcrypt
@testable import PushcryptKeyStore

/// The stored form of a device's state: whatever it is, it is read completely or not at all, and what was read is written and read
/// again. Sealed, it opens under its own name and revision alone.
///
/// Input: what it is, then a form, edits of a genuine one, or edits of a sealed one.
struct StateScene {
    private let revision = Bytes(repeating: 7, count: 16)
    private let keys = StoreKeys(
        storeKey: SecretBytes(copying: Bytes(repeating: 0x55, count: 32).span),
        storeID: Bytes(repeating: 0x56, count: StoreKeys.storeIDLength))
    private let genuine: Bytes
    private let sealed: Bytes

    init() {
        let secrets =
            [KnownKeys.device, KnownKeys.otherDevice].map { $0.withScalar { Secret(copying: $0) } }
            + [KnownKeys.signing(1).withSeed { Secret(copying: $0) }]
        let form = SecretForm(secrets: secrets, json: Bytes(Self.json.utf8)).bytes().withSpan { Bytes(copying: $0) }
        sealed = keys.seal(form.span, named: "device", revision)
        genuine = form
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
            + #""environment":"development","grant":"2c3d","alerts":true},"acknowledged":8}}],"#
            + #""learned":[{"provider":"\#(provider)","topic":"com.example.app","#
            + #""certificate":"\#(certificate)","floor":100,"contradicted":true}],"installation":"4455","#
            + #""ends":[{"account":"bob","post":{"record":"\#(text(end))","signature":"\#(signature)"},"#
            + #""address":"https://home.example.net/push"}],"#
            + #""relay":{"origin":"https://push.example.com","ends_all":true,"ended":[\#(grant)]}}"#
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
            let isGenuine = bytes == sealed && revision == self.revision && name == "device"
            require(
                ((try? keys.open(bytes, named: name, revision)) != nil) == isGenuine,
                "row: a state opens as it was sealed, and in no other place")
        }
    }

    private func check(_ bytes: Bytes) {
        guard let state = try? DeviceState(parsing: bytes.span) else {
            return require(bytes != genuine, "row: a state as it was written is read")
        }
        let written = state.form.bytes().withSpan { Bytes(copying: $0) }
        require(bytes != genuine || written == genuine, "row: a state is written with the same bytes")
        require(
            (try? DeviceState(parsing: written.span)) == state, "row: a state that was read is written and read again")
        for account in state.accounts {
            require(account.pins.count <= ProviderTrust.maximumPins, "row: an account has two pins at most")
            let keys = account.keys.compactMap { key in (try? key.deviceKey()).map { ($0.publicKey, key.publicKey) } }
            require(keys.allSatisfy { $0 == $1 }, "row: a secret is used for its own public key")
        }
    }
}

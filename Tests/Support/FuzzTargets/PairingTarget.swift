@testable import Pushcrypt
@testable import PushcryptKeyStore

/// A phone that pairs: a code has one text, and only what was made with it opens; what does not changes nothing in the store.
///
/// Input: what it is, then the text of a code, edits of a genuine one, edits of a request or a reply, or a record that a phone with
/// the code seals.
struct PairingTarget: FuzzTarget {
    static let name = "pairing"

    private static let url = "https://home.example.net/pair"

    private let code: PairingCode
    private let codeText: Bytes
    private let store: SQLiteKeyStore
    private let exchange: PairingExchange
    private let trust: ProviderTrust
    private let request: Bytes
    private let reply: Bytes

    init() {
        let provider = KnownKeys.provider(1)
        trust = ProviderTrust(pinned: [provider.publicKey])
        let code = KnownKeys.known { () throws(PairingError) in
            guard let secret = PairingSecret(Bytes(repeating: 0x61, count: PairingSecret.length).span) else {
                fail("pairing: a secret has 16 bytes")
            }
            return try PairingCode(secret, url: Self.url, provider: provider.publicKey)
        }
        self.code = code
        codeText = code.withText { Bytes(copying: $0) }
        exchange = PairingExchange(
            code.secret, url: Self.url, topic: KnownKeys.topic, fingerprint: code.fingerprint)
        var registration = DeviceRegistration(
            publicKey: KnownKeys.device.publicKey, topic: KnownKeys.topic, createdAt: KnownKeys.now)
        registration.deviceID = "phone"
        (registration.updateKey, registration.sequence) = (KnownKeys.signing(1).publicKey, 1)
        registration.nonce = RecordNonce("AAECAwQFBgcICQoLDA0ODw")
        request = exchange.seal(record: registration.json, salt: Bytes(repeating: 0x62, count: 16))
        store = KnownKeys.known { () throws(KeyStoreError) in
            let store = try SQLiteKeyStore.inMemory()
            _ = try store.importProviderKey(provider, topic: KnownKeys.topic, at: KnownKeys.now)
            try store.addPairing(code, topic: KnownKeys.topic, provider: provider.publicKey, at: KnownKeys.now)
            return store
        }
        // The phone of this request has the code, so that whatever else comes is another's.
        guard let answer = Self.accept(request, store), case .paired = answer.event else {
            fail("pairing: the first phone pairs")
        }
        reply = answer.reply
    }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        switch choices.byte() % 5 {
        case 0: checkCode(choices.rest())
        case 1: checkCode(edited(codeText, &choices))
        case 2: checkRequest(edited(request, &choices))
        case 3: checkReply(edited(reply, &choices))
        default: checkRecord(choices.rest())
        }
    }

    private func edited(_ bytes: Bytes, _ choices: inout Choices) -> Bytes {
        var bytes = bytes
        bytes.edit(&choices)
        return bytes
    }

    private func checkCode(_ text: Bytes) {
        guard let read = try? PairingCode(text: text.span) else {
            return require(text != codeText, "pairing: a genuine code is one")
        }
        require(read.withText { Bytes(copying: $0) } == text, "pairing: a code has one text")
        require(read.url.isProtected, "pairing: nobody is sent to an address that is not protected")
    }

    private func checkRequest(_ bytes: Bytes) {
        let isGenuine = bytes == request
        require(
            (exchange.open(request: bytes.span) != nil) == isGenuine, "pairing: genuine requests open, and no others")
        let before = changes
        let answer = Self.accept(bytes, store)
        require(changes == before, "pairing: what comes again, or does not open, changes nothing")
        guard let answer, case .repeated("phone") = answer.event else {
            return require(!isGenuine, "pairing: a request that comes again gets its reply")
        }
        require(isGenuine && answer.reply == reply, "pairing: only the same request gets the same reply")
    }

    private func checkReply(_ bytes: Bytes) {
        let opened = exchange.open(reply: bytes.span, to: request.span)
        require((opened != nil) == (bytes == reply), "pairing: genuine replies open, and no others")
    }

    /// A phone that has the code may write what it likes, and gets a sealed answer.
    private func checkRecord(_ record: Bytes) {
        let request = exchange.seal(record: record, salt: Bytes(repeating: 0x63, count: 16))
        let before = changes
        let answer = Self.accept(request, store)
        require(changes == before, "pairing: a code is for one phone, once")
        guard let answer, let opened = exchange.open(reply: answer.reply.span, to: request.span),
            let reply = SignedReply.open(
                opened, to: record, trusting: trust, for: KnownKeys.topic, at: KnownKeys.now)
        else { return require(request.count > PairingExchange.maximumLength, "pairing: a record gets a signed reply") }
        switch (answer.event, reply.verdict) {
        case (.repeated("phone"), .acknowledged(KnownKeys.device.publicKey)): break
        case (.refused(let refusal, _), .refused(let said)) where said == refusal: break
        default: fail("pairing: the reply says what has become of the record")
        }
    }

    private static func accept(_ request: Bytes, _ store: SQLiteKeyStore) -> PostAnswer? {
        KnownKeys.known { () throws(KeyStoreError) in
            try store.accept(.pairing(request), ReplyTerms(), at: KnownKeys.now)
        }
    }

    /// How many rows of the store were ever changed.
    private var changes: Int32 {
        KnownKeys.known { () throws(KeyStoreError) in
            try store.withConnection { (connection) throws(KeyStoreError) in try connection.state().own }
        }
    }
}

extension PostAnswer {
    /// The sealed reply to a request.
    fileprivate var reply: Bytes { PairingText.decode(body.span) ?? [] }
}

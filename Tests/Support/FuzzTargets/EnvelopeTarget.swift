import PushcryptReceiver

@testable import Pushcrypt
@testable import PushcryptKeyStore

/// The text of an envelope: it has one form, nothing opens but the genuine ones, and what does not open changes nothing.
///
/// Input: what it is, then a text, edits of a genuine text, edits of the bytes of one, or a push in which a byte of `words`
/// stands for a genuine text.
struct EnvelopeTarget: FuzzTarget {
    static let name = "envelope"

    private let opener: Opener
    private let store: SQLiteKeyStore
    private let receiver: NotificationReceiver
    /// Those of suite 1, then those of suite 2, if there are any.
    private let genuine: [[Bytes]]
    /// The bytes that stand for genuine texts in a push: 0x00 to 0x07 for those of suite 1, 0x0e to 0x14 for those of suite 2.
    private let words: [UInt8: Bytes]

    init() {
        let provider = KnownKeys.provider(1)
        opener = Opener(
            topic: KnownKeys.topic, deviceKeys: KnownKeys.devices, trust: ProviderTrust(pinned: [provider.publicKey]))
        genuine = [KnownKeys.device, KnownKeys.postQuantum].compactMap { device in
            device.map { Self.envelopes(to: $0.publicKey, by: provider) }
        }
        words = Dictionary(
            uniqueKeysWithValues: zip([0x00, 0x0e] as [UInt8], genuine).flatMap { first, texts in
                texts.enumerated().map { (first + UInt8($0.offset), $0.element) }
            })
        store = KnownKeys.known { () throws(KeyStoreError) in
            let store = try SQLiteKeyStore.inMemory()
            try store.change { (state) throws(KeyStoreError) in
                for (name, device) in zip(["phone", "newer"], [KnownKeys.device, KnownKeys.postQuantum]) {
                    try state.pin(ProviderPin(provider.publicKey), for: name, topic: KnownKeys.topic)
                    if let device { try state.add(device, to: name, at: KnownKeys.now) }
                }
            }
            return store
        }
        // Without a replay guard, so that a genuine envelope opens each time.
        receiver = NotificationReceiver(
            store: store, database: ExtensionDatabase(in: "/nonexistent"), topic: KnownKeys.topic)
    }

    /// One envelope for each bucket, the same in every run.
    private static func envelopes(to device: DevicePublicKey, by provider: ProviderKey) -> [Bytes] {
        let sealer = Sealer(provider: provider, topic: KnownKeys.topic)
        return Bucket.all(device.suite).map { bucket in
            var message = Sealer.Message([])
            if bucket > Bucket.largestForAlert(device.suite) { message.pushType = .voip }
            let limit = message.pushType.maximumPayloadLength(device.suite)
            let length = min(bucket - InnerPlaintext.body, limit) - 60
            let filler = String(repeating: "x", count: length)
            message.payload = Bytes(#"{"aps":{"alert":{"title":"Hello","body":"\#(filler)"}}}"#.utf8)
            let random = Bytes(repeating: UInt8(truncatingIfNeeded: bucket >> 8), count: 32)
            let sealed = KnownKeys.known { () throws(SealError) in
                try sealer.seal(
                    message, to: device, at: KnownKeys.now,
                    Randomness(messageID: random.span, ephemeral: random.span))
            }
            return Bytes(sealed.envelope.text.utf8)
        }
    }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let form = choices.byte()
        let number = Int(form >> 2)
        let texts = genuine[number >> 3 & 1 < genuine.count ? number >> 3 & 1 : 0]
        var text = texts[number % texts.count]
        switch form & 3 {
        case 0: check(choices.rest())
        case 1:
            text.edit(&choices)
            check(text)
        case 2:
            guard var bytes = Base64URL.decode(text.span) else { fail("envelope: a genuine text decodes") }
            bytes.edit(&choices)
            check(Bytes(Base64URL.string(bytes.span).utf8))
        default: receive(Bytes(choices.rest().flatMap { words[$0] ?? [$0] }))
        }
    }

    private func check(_ text: Bytes) {
        guard let envelope = try? Envelope(text: text.span) else {
            require(!isGenuine(text), "envelope: a genuine envelope is one")
            return
        }
        require(Bytes(envelope.text.utf8) == text, "envelope: an envelope has one text")
        let isOpened = PushClass.allCases.contains { (try? opener.open(envelope, at: KnownKeys.now, as: $0)) != nil }
        require(isOpened == isGenuine(text), "envelope: genuine envelopes open, and no others")
    }

    private func isGenuine(_ text: Bytes) -> Bool { genuine.contains { $0.contains(text) } }

    private func receive(_ push: Bytes) {
        let before = changes
        let envelope = try? ReceivedPush(push).envelope()
        let isCall = envelope.map { $0.innerLength > Bucket.largestForAlert($0.suite) } ?? false
        let reception = receiver.receive(push, as: isCall ? .call : .alert, requestID: nil, at: KnownKeys.now)
        require(changes == before, "envelope: a push that brings no certificate changes nothing in the store")
        let isGenuine = envelope.map { self.isGenuine(Bytes($0.text.utf8)) } ?? false
        if case .fallback = reception.delivery.outcome {
            require(!isGenuine, "envelope: a push with a genuine envelope opens")
        } else {
            require(isGenuine, "envelope: only a push with a genuine envelope opens")
        }
    }

    /// How many rows of the store were ever changed.
    private var changes: Int32 {
        KnownKeys.known { () throws(KeyStoreError) in
            try store.withConnection { (connection) throws(KeyStoreError) in try connection.state().own }
        }
    }
}

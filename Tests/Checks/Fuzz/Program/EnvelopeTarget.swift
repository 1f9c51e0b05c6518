import FuzzHarness
import PushcryptReceiver

@testable import Pushcrypt
@testable import PushcryptKeyStore

/// The text of an envelope: it has one form, nothing opens but the genuine ones, and what does not open changes nothing.
///
/// Input: what it is, then a text, edits of a genuine text, edits of the bytes of one, or a push in which a byte below 0x09
/// stands for a genuine text.
struct EnvelopeTarget: FuzzTarget {
    static let name = "envelope"

    private let opener: Opener
    private let store: SQLiteKeyStore
    private let receiver: NotificationReceiver
    private let genuine: [Bytes]

    init() {
        let sender = KnownKeys.sender(1)
        opener = Opener(
            topic: KnownKeys.topic, deviceKeys: [KnownKeys.device, KnownKeys.otherDevice],
            trust: SenderTrust(pinned: [sender.publicKey]))
        genuine = Self.envelopes(by: sender)
        store = KnownKeys.known { () throws(KeyStoreError) in
            let store = try SQLiteKeyStore.inMemory()
            _ = try store.importDeviceKey(
                KnownKeys.device, named: "phone", topic: KnownKeys.topic, at: KnownKeys.now)
            try store.trustSender(sender.publicKey, named: "provider", topic: KnownKeys.topic, at: KnownKeys.now)
            return store
        }
        // Without a replay guard, so that a genuine envelope opens each time.
        let replay = ReplayFile.open(in: "/nonexistent", at: KnownKeys.now)
        receiver = NotificationReceiver(keys: store, effects: store, replay: replay, topic: KnownKeys.topic)
    }

    /// One envelope for each bucket, the same in every run.
    private static func envelopes(by sender: SenderKey) -> [Bytes] {
        let sealer = Sealer(sender: sender, topic: KnownKeys.topic)
        return Bucket.all(.x25519).map { bucket in
            var options = Sealer.Options()
            if bucket == Bucket.largest(.x25519) { options.pushType = .voip }
            let filler = String(repeating: "x", count: bucket - InnerPlaintext.body - 60)
            let payload = Bytes(#"{"aps":{"alert":{"title":"Hello","body":"\#(filler)"}}}"#.utf8)
            let random = Bytes(repeating: UInt8(truncatingIfNeeded: bucket >> 8), count: 32)
            let sealed = KnownKeys.known { () throws(SealError) in
                try sealer.seal(
                    bytes: payload, to: KnownKeys.device.publicKey, at: KnownKeys.now, options: options,
                    randomness: EnvelopeSealer.Randomness(messageID: random.span, ephemeral: random.span))
            }
            return Bytes(sealed.envelope.text.utf8)
        }
    }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let form = choices.byte()
        var text = genuine[Int(form >> 2) % genuine.count]
        switch form & 3 {
        case 0: check(choices.rest())
        case 1:
            text.edit(&choices)
            check(text)
        case 2:
            guard var bytes = Base64URL.decode(text.span) else { fail("envelope: a genuine text decodes") }
            bytes.edit(&choices)
            check(Bytes(Base64URL.string(bytes.span).utf8))
        default: receive(Bytes(choices.rest().flatMap { $0 < genuine.count ? genuine[Int($0)] : [$0] }))
        }
    }

    private func check(_ text: Bytes) {
        guard let envelope = try? Envelope(text: text.span) else {
            require(!genuine.contains(text), "envelope: a genuine envelope is one")
            return
        }
        require(Bytes(envelope.text.utf8) == text, "envelope: an envelope has one text")
        let isOpened = (try? opener.open(envelope, at: KnownKeys.now)) != nil
        require(isOpened == genuine.contains(text), "envelope: genuine envelopes open, and no others")
    }

    private func receive(_ push: Bytes) {
        let before = changes
        let reception = receiver.receive(push, requestID: nil, at: KnownKeys.now)
        require(changes == before, "envelope: a push that brings no rotation changes nothing in the store")
        let envelope = try? ReceivedPush(push).envelope()
        let isGenuine = envelope.map { genuine.contains(Bytes($0.text.utf8)) } ?? false
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

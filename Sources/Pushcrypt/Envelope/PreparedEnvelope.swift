/// An envelope that only its signature is missing from: what waits while a signer elsewhere works.
struct PreparedEnvelope: ~Copyable {
    /// The message's id.
    let id: MessageID
    /// What is to be signed; it tells nothing of the content.
    let toSign: ContiguousArray<UInt8>

    private let headerAndEnc: ContiguousArray<UInt8>
    private var inner: Ephemeral
    private let context: HPKEContext

    init(
        id: MessageID, toSign: ContiguousArray<UInt8>, headerAndEnc: ContiguousArray<UInt8>, inner: consuming Ephemeral,
        context: consuming HPKEContext
    ) {
        self.id = id
        self.toSign = toSign
        self.headerAndEnc = headerAndEnc
        self.inner = inner
        self.context = context
    }

    /// Puts the signature in its place and encrypts; 64 bytes, which the caller has checked.
    consuming func finish(signature: ContiguousArray<UInt8>) throws(SodiumRefusal) -> Envelope {
        inner.withMutableSpan { $0.write(signature.span, at: InnerPlaintext.signature.lowerBound) }
        var envelope = headerAndEnc
        envelope.reserveCapacity(Envelope.overhead + inner.count)
        defer { Sodium.wipeStack() }
        let empty = ContiguousArray<UInt8>()
        try inner.withSpan { (inner) throws(SodiumRefusal) in
            try context.seal(inner, authenticating: empty.span, appendingTo: &envelope)
        }
        return Envelope(sealed: envelope)
    }
}

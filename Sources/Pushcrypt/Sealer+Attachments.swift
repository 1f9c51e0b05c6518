extension AttachmentSealer.FirstPass {
    /// Ends the pass, and begins the second one under a new key, which is hedged with the hedge key of `sealer`: for a sender whose
    /// key may be in a service.
    public consuming func sealer(for sealer: Sealer) -> AttachmentSealer { self.sealer(sealer.envelopes.signer) }
}

extension FullBody {
    /// Seals the body of a payload as a file of its own, under a key that is hedged with the sealer's.
    ///
    /// Nil for what has no body to show: a payload without one, with the key of a localised one, or that is no payload, which
    /// sealing it then says. The caller stores `sealedFile` at the url, and gives this value to `Sealer.seal` with `fitting`
    /// a body. The same value serves every device that the payload goes to.
    ///
    /// - Throws: `bodyTooLong`, or `malformedReference` for the url.
    public init?(of payload: some Sequence<UInt8>, url: String, by sealer: Sealer) throws(AttachmentError) {
        try self.init(of: ContiguousArray(payload), url: url, by: sealer.envelopes.signer)
    }
}

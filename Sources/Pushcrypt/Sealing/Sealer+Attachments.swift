extension AttachmentSealer.FirstPass {
    /// Ends the pass, and starts the second one with a new key, which two different files never share, even if the random source
    /// fails: it is hedged with the hedge key of `sealer`. (`Docs/Format.md`, Randomness)
    public consuming func sealer(for sealer: Sealer) -> AttachmentSealer { self.sealer(sealer.signer) }
}

extension FullBody {
    /// Seals the body of a payload as a separate file, with a key that is hedged with the sealer's hedge key.
    ///
    /// Returns nil if the payload has no body to show: none at all, or a localized one, or if it is not a payload,
    /// which `Sealer.seal` reports. The caller stores `sealedFile` at `url` and sets this value as `Sealer.Message.fullBody`,
    /// with `Sealer.Message.fitting` including the body. One value serves every device that receives the payload.
    ///
    /// - Parameters:
    ///   - payload: The APNs payload as UTF-8 JSON.
    ///   - url: The url at which the sealed file will be stored.
    ///   - sealer: The sealer for the same app.
    /// - Throws: `bodyTooLong`, or `malformedReference` for the url.
    public init?(of payload: some Sequence<UInt8>, url: String, by sealer: Sealer) throws(AttachmentError) {
        try self.init(of: ContiguousArray(payload), url: url, by: sealer.signer)
    }
}

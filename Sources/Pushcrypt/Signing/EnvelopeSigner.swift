/// Who signs what sealers seal, and the hedge key that belongs to the signing key. (`Docs/Format.md`, Randomness)
///
/// Sealers for many apps, and on many threads, share one, so that a signer elsewhere is asked for the hedge key once.
package enum EnvelopeSigner: Sendable {
    /// A key in this process, without a detour: its signatures need no check.
    case key(SenderKey)
    /// A key elsewhere.
    case external(ExternalSigner)

    /// Takes a key in this process as it is; any other is asked for one signature, which is checked.
    package init(_ signer: any MessageSigner) throws(SigningError) {
        if let key = signer as? SenderKey {
            self = .key(key)
        } else {
            self = .external(try ExternalSigner(signer))
        }
    }

    /// The public half of the signing key.
    package var publicKey: SenderPublicKey {
        switch self {
        case .key(let key): key.publicKey
        case .external(let signer): signer.publicKey
        }
    }

    /// Starts a hedged value: HMAC under the hedge key.
    func hedged() -> HMACSHA256 {
        switch self {
        case .key(let key): key.hedged()
        case .external(let signer): signer.hedged()
        }
    }
}

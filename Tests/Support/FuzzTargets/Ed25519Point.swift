internal import CSodium
internal import Pushcrypt

/// The format's rules for a sender's public key (`Docs/Format.md`, Keys as text), checked with libsodium itself.
enum Ed25519Point {
    /// Whether these bytes are the one encoding of a point of prime order.
    static func isUsable(_ bytes: Bytes) -> Bool {
        guard bytes.count == 32 else { return false }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe crypto_core_ed25519_is_valid_point(start) == 1
        }
    }
}

#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// SHA-256 (FIPS 180-4), fed in pieces.
@safe
package struct SHA256: ~Copyable {
    package static let digestLength = 32

    private let state: UnsafeMutablePointer<crypto_hash_sha256_state>

    package init() {
        _ = Sodium.started
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: crypto_hash_sha256_state())
        Sodium.expectSuccess(unsafe crypto_hash_sha256_init(state))
    }

    package func update(_ bytes: Span<UInt8>) {
        Sodium.expectSuccess(
            unsafe bytes.withBase { unsafe crypto_hash_sha256_update(state, $0, UInt64($1)) })
    }

    package func update(_ label: StaticString) {
        Sodium.expectSuccess(
            unsafe crypto_hash_sha256_update(state, label.utf8Start, UInt64(label.utf8CodeUnitCount)))
    }

    package consuming func finish() -> ContiguousArray<UInt8> {
        unsafe ContiguousArray(count: Self.digestLength) {
            Sodium.expectSuccess(unsafe crypto_hash_sha256_final(state, $0))
        }
    }

    /// The digest of bytes that are all at hand.
    package static func digest(_ bytes: Span<UInt8>) -> ContiguousArray<UInt8> {
        let hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    deinit {
        // The state holds the last block of what was hashed, which may be message content.
        unsafe sodium_memzero(state, MemoryLayout<crypto_hash_sha256_state>.size)
        unsafe state.deallocate()
    }
}

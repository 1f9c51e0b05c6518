#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// HMAC-SHA256 (RFC 2104), fed in pieces; libsodium 1.0.18 has no HKDF, so the KDF is built on this.
@safe
struct HMACSHA256: ~Copyable {
    static let tagLength = 32

    private let state: UnsafeMutablePointer<crypto_auth_hmacsha256_state>

    init(key: Span<UInt8>) {
        _ = Sodium.started
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: crypto_auth_hmacsha256_state())
        Sodium.expectSuccess(unsafe key.withBase { unsafe crypto_auth_hmacsha256_init(state, $0, $1) })
    }

    func update(_ bytes: Span<UInt8>) {
        Sodium.expectSuccess(
            unsafe bytes.withBase { unsafe crypto_auth_hmacsha256_update(state, $0, UInt64($1)) })
    }

    func update(_ label: StaticString) {
        Sodium.expectSuccess(
            unsafe crypto_auth_hmacsha256_update(state, label.utf8Start, UInt64(label.utf8CodeUnitCount)))
    }

    /// Ends a tag that stays secret: a derived key.
    consuming func finish() -> Ephemeral {
        var tag = Ephemeral(count: Self.tagLength)
        tag.withMutableSpan { output in
            Sodium.expectSuccess(
                unsafe output.withMutableBase { base, _ in unsafe crypto_auth_hmacsha256_final(state, base) })
        }
        return tag
    }

    /// Ends a tag that is stored or sent.
    consuming func finishPublic() -> ContiguousArray<UInt8> {
        finish().withSpan { ContiguousArray(copying: $0) }
    }

    deinit {
        unsafe sodium_memzero(state, MemoryLayout<crypto_auth_hmacsha256_state>.size)
        unsafe state.deallocate()
    }
}

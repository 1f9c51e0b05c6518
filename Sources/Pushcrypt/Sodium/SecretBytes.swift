#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// A long-lived secret in guarded memory: seeds, device keys, the store key.
///
/// The pages are locked against swapping where the system allows it, fenced by guard pages, left out of core dumps,
/// read-only after `init`, and wiped on deinit (`sodium_malloc`, libsodium's "Secure memory"). The type cannot be copied,
/// and it prints nothing. An allocation costs 25-30 µs, so what lives for one message is an `Ephemeral`.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Immutable after init, which is what makes sharing it between threads safe.
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Allocates `count` bytes and lets `fill` write them; a throw wipes and frees what was written.
    package init<E: Error>(
        count: Int, filledBy fill: (inout MutableSpan<UInt8>) throws(E) -> Void
    ) throws(E) {
        _ = Sodium.started
        guard let base = unsafe sodium_malloc(count) else {
            preconditionFailure("no guarded memory is left for a secret of \(count) bytes")
        }
        let bytes = unsafe base.assumingMemoryBound(to: UInt8.self)
        let buffer = unsafe UnsafeMutableBufferPointer(start: bytes, count: count)
        unsafe storage = buffer
        // A throw runs deinit, because every stored property is set.
        var span = unsafe buffer.mutableSpan
        try fill(&span)
        Sodium.expectSuccess(unsafe sodium_mprotect_readonly(base))
        Sodium.wipeStack()
    }

    /// Allocates a secret of fresh random bytes.
    package init(randomCount count: Int) {
        self.init(count: count) { Sodium.fillRandom(&$0) }
    }

    /// Takes a copy of bytes that the caller wipes.
    package init(copying source: Span<UInt8>) {
        self.init(count: source.count) { $0.write(source, at: 0) }
    }

    /// The length in bytes.
    package var count: Int { unsafe storage.count }

    /// Reads the secret; nothing that `body` returns may hold a copy of it.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe storage.span)
    }

    deinit {
        unsafe sodium_free(storage.baseAddress)
    }
}

#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// A secret that lives for one message: ephemeral scalars, shared secrets, derived keys, inner plaintext.
///
/// Plain heap memory, wiped in deinit. It cannot be copied, and it prints nothing. What lives longer is `SecretBytes`.
@safe
package struct Ephemeral: ~Copyable, @unchecked Sendable {
    // It has one owner, and whoever writes has it alone: that is what makes it safe to hand to another thread.
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Allocates `count` zero bytes.
    package init(count: Int) {
        unsafe storage = .allocate(capacity: count)
        unsafe storage.initialize(repeating: 0)
    }

    /// Allocates fresh random bytes.
    package init(randomCount count: Int) {
        self.init(count: count)
        withMutableSpan { Sodium.fillRandom(&$0) }
    }

    /// The length in bytes.
    package var count: Int { unsafe storage.count }

    /// Reads the secret; nothing that `body` returns may hold a copy of it.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe storage.span)
    }

    /// Writes the secret in place.
    package mutating func withMutableSpan<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        var span = unsafe storage.mutableSpan
        return try body(&span)
    }

    /// Takes a copy of bytes that the caller wipes.
    package init(copying source: Span<UInt8>) {
        self.init(count: source.count)
        withMutableSpan { $0.write(source, at: 0) }
    }

    /// Puts a secret between two texts that are none.
    init(_ start: Bytes, _ secret: Span<UInt8>, _ end: Bytes) {
        self.init(count: start.count + secret.count + end.count)
        withMutableSpan { output in
            output.write(start.span, at: 0)
            output.write(secret, at: start.count)
            output.write(end.span, at: start.count + secret.count)
        }
    }

    deinit {
        unsafe sodium_memzero(storage.baseAddress, storage.count)
        unsafe storage.deallocate()
    }
}

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

#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// A secret for the duration of one message: an ephemeral scalar, a shared secret, a derived key, an inner plaintext.
///
/// Plain heap memory, wiped in deinit. It cannot be copied and prints nothing. Secrets that live longer are
/// `SecretBytes`.
@safe
package struct Ephemeral: ~Copyable, @unchecked Sendable {
    // Safe to pass to another thread, because it has one owner and writing needs exclusive access.
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Allocates `count` zero bytes.
    package init(count: Int) {
        self.init(unwrittenCount: count)
        unsafe storage.initialize(repeating: 0)
    }

    /// Allocates bytes that the caller writes, all of them.
    private init(unwrittenCount count: Int) {
        let bytes = unsafe PlainMemory.allocate(count).bindMemory(to: UInt8.self, capacity: count)
        unsafe storage = UnsafeMutableBufferPointer(start: bytes, count: count)
    }

    /// Allocates fresh random bytes.
    package init(randomCount count: Int) {
        self.init(unwrittenCount: count)
        withMutableBytes { Sodium.fillRandom(&$0) }
    }

    /// The length in bytes.
    package var count: Int { unsafe storage.count }

    /// Calls `body` with the secret; its result must not contain a copy.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe storage.span)
    }

    /// Calls `body` to change the secret in place.
    package mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableBytes) throws(E) -> R
    ) throws(E) -> R {
        var bytes = unsafe MutableBytes(storage)
        return try body(&bytes)
    }

    /// The same as a `MutableSpan`; not for a phone.
    package mutating func withMutableSpan<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        var span = unsafe storage.mutableSpan
        return try body(&span)
    }

    /// Copies bytes, which the caller wipes.
    package init(copying source: Span<UInt8>) {
        self.init(unwrittenCount: source.count)
        withMutableBytes { $0.write(source, at: 0) }
    }

    /// Concatenates a secret and the public texts before and after it.
    package init(_ start: Bytes, _ secret: Span<UInt8>, _ end: Bytes) {
        self.init(count: start.count + secret.count + end.count)
        withMutableBytes { output in
            output.write(start.span, at: 0)
            output.write(secret, at: start.count)
            output.write(end.span, at: start.count + secret.count)
        }
    }

    deinit {
        unsafe sodium_memzero(storage.baseAddress, storage.count)
        unsafe PlainMemory.free(storage.baseAddress)
    }
}

/// A long-lived secret in guarded memory: seeds, device keys, the store key.
///
/// The pages are locked against swapping if the system allows it, surrounded by guard pages, excluded from core dumps,
/// read-only after `init`, and wiped in deinit (`sodium_malloc`, libsodium's "Secure memory"). The type cannot be
/// copied and prints nothing. An allocation takes 25-30 µs, so a secret of one message is an `Ephemeral`.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Safe to share between threads, because it is immutable after init.
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Allocates `count` bytes, which `fill` writes; if it throws, they are wiped and freed.
    package init<E: Error>(
        count: Int, filledBy fill: (inout MutableBytes) throws(E) -> Void
    ) throws(E) {
        _ = Sodium.started
        guard let base = unsafe sodium_malloc(count) else {
            preconditionFailure("no guarded memory is left for a secret of \(count) bytes")
        }
        let bytes = unsafe base.assumingMemoryBound(to: UInt8.self)
        let buffer = unsafe UnsafeMutableBufferPointer(start: bytes, count: count)
        unsafe storage = buffer
        // A throw runs deinit, because every stored property is set.
        var output = unsafe MutableBytes(buffer)
        try fill(&output)
        Sodium.expectSuccess(unsafe sodium_mprotect_readonly(base))
        Sodium.wipeStack()
    }

    /// Allocates a secret of fresh random bytes.
    package init(randomCount count: Int) {
        self.init(count: count) { Sodium.fillRandom(&$0) }
    }

    /// Copies bytes, which the caller wipes.
    package init(copying source: Span<UInt8>) {
        self.init(count: source.count) { $0.write(source, at: 0) }
    }

    /// The length in bytes.
    package var count: Int { unsafe storage.count }

    /// Calls `body` with the secret; its result must not contain a copy.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe storage.span)
    }

    deinit {
        unsafe sodium_free(storage.baseAddress)
    }
}

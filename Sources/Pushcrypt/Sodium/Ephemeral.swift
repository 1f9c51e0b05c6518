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

#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// General functions of libsodium: initialization, random bytes, and helpers without secret-dependent timing.
package enum Sodium {
    /// Initializes libsodium once per process; every wrapper reads this before its first call.
    ///
    /// A failure means that the system has no random source. Nothing is safe then, so it traps.
    static let started: Void = {
        precondition(sodium_init() >= 0, "libsodium could not start: the system has no random source")
    }()

    /// The version of the linked library, for example `1.0.18`.
    package static var version: String {
        guard let text = unsafe sodium_version_string() else { return "unknown" }
        return unsafe String(cString: text)
    }

    /// Fills `output` with bytes from the system's random source.
    package static func fillRandom(_ output: inout MutableBytes) {
        _ = started
        unsafe output.withMutableBase { unsafe randombytes_buf($0, $1) }
    }

    /// Returns random bytes for public uses: nonces, salts, identifiers.
    package static func randomBytes(_ count: Int) -> ContiguousArray<UInt8> {
        _ = started
        return unsafe ContiguousArray(count: count) { unsafe randombytes_buf($0, count) }
    }

    /// Compares two byte strings in time that depends only on their lengths.
    package static func areEqual(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        return unsafe a.withBase { x, count in
            unsafe b.withBase { y, _ in unsafe sodium_memcmp(x, y, count) == 0 }
        }
    }

    /// Returns whether every byte is zero, in time that depends only on the length.
    package static func isAllZero(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withBase { unsafe sodium_is_zero($0, $1) == 1 }
    }

    /// Overwrites the stack below the caller's frame, where calls with a secret may have left copies: libsodium wipes
    /// its own variables there, but not what the compiler and the linker have put beside them.
    static func wipeStack(kibibytes: Int = 8) {
        // More than most calls use: the vector registers alone, which the dynamic linker saves, may take 2.7 KiB.
        sodium_stackzero(kibibytes << 10)
    }

    /// Traps unless a call succeeded that is documented to succeed on every input, such as a hash.
    static func expectSuccess(_ code: Int32) {
        precondition(code == 0, "a libsodium call that cannot fail has failed")
    }
}

extension ContiguousArray where Element == UInt8 {
    /// Creates an array of public bytes, all written by C; `body` is not called for an empty array.
    init(count: Int, writtenBy body: (UnsafeMutablePointer<UInt8>) -> Void) {
        self.init()
        guard count > 0 else { return }
        reserveCapacity(count)
        // Not `init(unsafeUninitializedCapacity:)`, which looks the type up at run time.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { buffer in
            guard let base = buffer.baseAddress else { return }
            unsafe body(base)
            unsafe append(contentsOf: UnsafeBufferPointer(buffer))
        }
    }
}

extension ContiguousArray where Element == UInt8 {
    /// Overwrites the bytes in place, for a secret that could only be passed as an array. Copies that share the storage
    /// keep it.
    mutating func wipe() {
        unsafe withUnsafeMutableBufferPointer { unsafe sodium_memzero($0.baseAddress, $0.count) }
    }
}

/// The error of a libsodium call that refused its input.
///
/// Contains nothing about the input. Callers translate it into their own error at once.
package struct SodiumRefusal: Error {}

extension Span where Element == UInt8 {
    /// Calls `body` with a pointer that is never null, because libsodium's headers declare inputs `nonnull`.
    func withBase<R>(_ body: (UnsafePointer<UInt8>, Int) -> R) -> R {
        unsafe withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { return unsafe body(base, buffer.count) }
            var dummy: UInt8 = 0
            return unsafe withUnsafePointer(to: &dummy) { unsafe body($0, 0) }
        }
    }
}

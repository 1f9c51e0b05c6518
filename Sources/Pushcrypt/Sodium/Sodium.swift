#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// libsodium as a whole: its one-time start, its random source and its helpers without secret-dependent timing.
package enum Sodium {
    /// Starts libsodium once per process; every wrapper reads it before its first call.
    ///
    /// A failure means that the system has no random source. Nothing can be done safely then, so it traps.
    static let started: Void = {
        precondition(sodium_init() >= 0, "libsodium could not start: the system has no random source")
    }()

    /// The version of the library that is linked, for example `1.0.18`.
    package static var version: String {
        guard let text = unsafe sodium_version_string() else { return "unknown" }
        return unsafe String(cString: text)
    }

    /// Fills `output` from the system's random source.
    package static func fillRandom(_ output: inout MutableSpan<UInt8>) {
        _ = started
        unsafe output.withMutableBase { unsafe randombytes_buf($0, $1) }
    }

    /// Fresh random bytes for public uses: nonces, salts, identifiers.
    package static func randomBytes(_ count: Int) -> ContiguousArray<UInt8> {
        _ = started
        return unsafe ContiguousArray(count: count) { unsafe randombytes_buf($0, count) }
    }

    /// Compares in a time that depends on the lengths only.
    package static func areEqual(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        return unsafe a.withBase { x, count in
            unsafe b.withBase { y, _ in unsafe sodium_memcmp(x, y, count) == 0 }
        }
    }

    /// Tells whether every byte is zero, in a time that depends on the length only.
    package static func isAllZero(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withBase { unsafe sodium_is_zero($0, $1) == 1 }
    }

    /// Overwrites what calls that had a secret have left on the stack, below the frame of the caller: libsodium wipes what it keeps
    /// there by name, and not what compiler and linker have put there beside it.
    static func wipeStack() {
        // Above what those calls take: the state of vector registers alone, which the linker saves, may be 2.7 KiB.
        sodium_stackzero(8 << 10)
    }

    /// Checks the result of a call that libsodium documents to succeed on every input, such as a hash.
    static func expectSuccess(_ code: Int32) {
        precondition(code == 0, "a libsodium call that cannot fail has failed")
    }
}

extension ContiguousArray where Element == UInt8 {
    /// Makes an array whose every byte C writes; an array of no bytes is never handed to C.
    init(count: Int, writtenBy body: (UnsafeMutablePointer<UInt8>) -> Void) {
        unsafe self.init(unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let base = buffer.baseAddress, count > 0 else { return }
            unsafe body(base)
            initialized = count
        }
    }
}

extension ContiguousArray where Element == UInt8 {
    /// Overwrites the bytes where they lie, for a secret that could come in an array only; what shares them with this array
    /// keeps them.
    mutating func wipe() {
        unsafe withUnsafeMutableBufferPointer { unsafe sodium_memzero($0.baseAddress, $0.count) }
    }
}

/// A libsodium call that refused its input.
///
/// Callers translate it at once into an error of their own; it carries nothing about the input.
package struct SodiumRefusal: Error {}

extension Span where Element == UInt8 {
    /// Gives C a pointer that is never null, because libsodium's headers declare its inputs `nonnull`.
    func withBase<R>(_ body: (UnsafePointer<UInt8>, Int) -> R) -> R {
        unsafe withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { return unsafe body(base, buffer.count) }
            var dummy: UInt8 = 0
            return unsafe withUnsafePointer(to: &dummy) { unsafe body($0, 0) }
        }
    }
}

extension MutableSpan where Element == UInt8 {
    /// Gives C a pointer for output; the span must not be empty.
    mutating func withMutableBase<R>(_ body: (UnsafeMutablePointer<UInt8>, Int) -> R) -> R {
        unsafe withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an empty output buffer") }
            return unsafe body(base, buffer.count)
        }
    }
}

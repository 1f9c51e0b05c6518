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
        unsafe state = PlainMemory.allocate(MemoryLayout<crypto_hash_sha256_state>.size).bindMemory(
            to: crypto_hash_sha256_state.self, capacity: 1)
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

    func update(_ byte: UInt8) {
        Sodium.expectSuccess(
            unsafe withUnsafePointer(to: byte) { unsafe crypto_hash_sha256_update(state, $0, 1) })
    }

    package consuming func finish() -> ContiguousArray<UInt8> {
        unsafe ContiguousArray(count: Self.digestLength) {
            Sodium.expectSuccess(unsafe crypto_hash_sha256_final(state, $0))
        }
    }

    package static func digest(_ bytes: Span<UInt8>) -> ContiguousArray<UInt8> {
        let hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    deinit {
        // The state holds the last block of the input, which may be message content.
        unsafe sodium_memzero(state, MemoryLayout<crypto_hash_sha256_state>.size)
        unsafe PlainMemory.free(state)
    }
}

/// HMAC-SHA256 (RFC 2104), fed in pieces; libsodium 1.0.18 has no HKDF, so the KDF is built on this.
@safe
struct HMACSHA256: ~Copyable {
    static let tagLength = 32
    static let stateLength = MemoryLayout<crypto_auth_hmacsha256_state>.size
    private static let memoryLength = stateLength + tagLength

    private let state: UnsafeMutablePointer<crypto_auth_hmacsha256_state>

    /// Room for a tag, behind the state.
    private var tag: UnsafeMutablePointer<UInt8> {
        unsafe UnsafeMutableRawPointer(state + 1).assumingMemoryBound(to: UInt8.self)
    }

    /// Allocates a state that is not written yet, and the room for the tag.
    private init() {
        unsafe state = PlainMemory.allocate(Self.memoryLength).bindMemory(
            to: crypto_auth_hmacsha256_state.self, capacity: 1)
    }

    init(key: Span<UInt8>) {
        _ = Sodium.started
        self.init()
        start(key: key)
    }

    private func start(key: Span<UInt8>) {
        Sodium.expectSuccess(unsafe key.withBase { unsafe crypto_auth_hmacsha256_init(state, $0, $1) })
    }

    /// Continues from a start that was kept.
    init(_ start: borrowing Start) {
        self.init()
        unsafe state.initialize(to: start.state)
    }

    /// Continues from where another one is.
    init(copying other: borrowing HMACSHA256) {
        self.init()
        // From heap to heap, never through the stack: the state holds the key.
        unsafe state.initialize(from: other.state, count: 1)
    }

    /// Continues from a state that `write(stateTo:at:)` wrote.
    init(state bytes: Span<UInt8>) {
        precondition(bytes.count == Self.stateLength, "not the state of an HMAC")
        self.init()
        unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(state).copyMemory(from: base, byteCount: Self.stateLength)
        }
    }

    /// Writes the state, `stateLength` bytes, into memory that the caller guards as it would guard the key.
    func write(stateTo output: inout MutableBytes, at offset: Int) {
        let bytes = unsafe UnsafeRawBufferPointer(start: state, count: Self.stateLength)
        output.write(unsafe bytes.bindMemory(to: UInt8.self).span, at: offset)
    }

    func update(_ bytes: Span<UInt8>) {
        Sodium.expectSuccess(
            unsafe bytes.withBase { unsafe crypto_auth_hmacsha256_update(state, $0, UInt64($1)) })
    }

    func update(_ label: StaticString) {
        Sodium.expectSuccess(
            unsafe crypto_auth_hmacsha256_update(state, label.utf8Start, UInt64(label.utf8CodeUnitCount)))
    }

    func update(_ byte: UInt8) {
        Sodium.expectSuccess(
            unsafe withUnsafePointer(to: byte) { unsafe crypto_auth_hmacsha256_update(state, $0, 1) })
    }

    func update(bigEndian value: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: value.bigEndian) { update(unsafe $0.bindMemory(to: UInt8.self).span) }
    }

    /// Calls `body` with the tag; its result must not contain a copy of a tag that stays secret.
    consuming func withTag<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        Sodium.expectSuccess(unsafe crypto_auth_hmacsha256_final(state, tag))
        return try body(unsafe UnsafeBufferPointer(start: tag, count: Self.tagLength).span)
    }

    /// Begins another HMAC, under this tag.
    consuming func finishAsKey() -> HMACSHA256 {
        Sodium.expectSuccess(unsafe crypto_auth_hmacsha256_final(state, tag))
        start(key: unsafe UnsafeBufferPointer(start: tag, count: Self.tagLength).span)
        return self
    }

    /// Returns a tag that stays secret: a derived key.
    consuming func finish() -> Ephemeral {
        withTag { Ephemeral(copying: $0) }
    }

    deinit {
        unsafe sodium_memzero(state, Self.memoryLength)
        unsafe PlainMemory.free(state)
    }
}

extension HMACSHA256 {
    /// A public key and what every message begins with, worked into a state once: three compressions of SHA-256 and the calls.
    struct Start: Sendable {
        fileprivate let state: crypto_auth_hmacsha256_state

        init(key: Span<UInt8>, _ feed: (borrowing HMACSHA256) -> Void) {
            let hmac = HMACSHA256(key: key)
            feed(hmac)
            state = unsafe hmac.state.pointee
        }
    }
}

/// Keyed BLAKE2b with 32 bytes of output (RFC 7693): the tags of rows at rest, three times as fast as HMAC-SHA256 here.
package enum BLAKE2b {
    package static let tagLength = 32

    /// Returns the tag of a message under a key of 32 bytes.
    package static func tag(of message: Span<UInt8>, key: Span<UInt8>) -> ContiguousArray<UInt8> {
        precondition(key.count == tagLength)
        _ = Sodium.started
        return unsafe ContiguousArray(count: tagLength) { output in
            let code = unsafe message.withBase { m, count in
                unsafe key.withBase { k, keyCount in
                    unsafe crypto_generichash_blake2b(output, tagLength, m, UInt64(count), k, keyCount)
                }
            }
            Sodium.expectSuccess(code)
        }
    }
}

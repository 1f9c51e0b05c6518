#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// libsodium's secret stream (`crypto_secretstream_xchacha20poly1305`): chunks under one key. Changing, removing,
/// repeating or reordering chunks is detected.
///
/// Missing chunks at the end are not detected: the reader has to check for the tag `final`.
enum SecretStream {
    static let keyLength = 32
    static let headerLength = 24
    /// The number of bytes added to each chunk: an encrypted byte for its tag, and Poly1305's 16 bytes.
    static let overhead = 17

    /// The role of a chunk in the stream; authenticated and encrypted.
    struct Tag: Equatable {
        let rawValue: UInt8

        static let message = Tag(rawValue: 0x00)
        static let final = Tag(rawValue: 0x03)
    }

    /// The writing end of one stream.
    final class Writer {
        private let state = State()

        /// The header, which the reader needs besides the key; not secret.
        let header: ContiguousArray<UInt8>

        /// Starts a stream with a fresh random header.
        init(key: Span<UInt8>) {
            precondition(key.count == keyLength)
            let pointer = unsafe state.pointer
            header = unsafe ContiguousArray(count: headerLength) { header in
                let code = unsafe key.withBase { k, _ in
                    unsafe crypto_secretstream_xchacha20poly1305_init_push(pointer, header, k)
                }
                Sodium.expectSuccess(code)
            }
        }

        /// Starts a stream with a given header, for tests with known answers. libsodium always draws the header itself,
        /// but both ends of a stream start in the same state, so this starts as a reader does.
        init(key: Span<UInt8>, header: Span<UInt8>) {
            self.header = ContiguousArray(copying: header)
            state.begin(key: key, header: header)
        }

        /// Seals the next chunk; the result is 17 bytes longer.
        func push(_ chunk: Span<UInt8>, tag: Tag, authenticating data: Span<UInt8>) -> ContiguousArray<UInt8> {
            let pointer = unsafe state.pointer
            return unsafe ContiguousArray(count: chunk.count + overhead) { output in
                let code = unsafe chunk.withBase { m, mCount in
                    unsafe data.withBase { ad, adCount in
                        unsafe crypto_secretstream_xchacha20poly1305_push(
                            pointer, output, nil, m, UInt64(mCount), ad, UInt64(adCount), tag.rawValue)
                    }
                }
                Sodium.expectSuccess(code)
            }
        }
    }

    /// The reading end of one stream.
    final class Reader {
        private let state = State()

        /// Starts reading. Any header is valid: a writer could have drawn it.
        init(key: Span<UInt8>, header: Span<UInt8>) {
            state.begin(key: key, header: header)
        }

        /// Opens the next chunk into the front of `plain`, which has room for at least one byte and for 17 fewer than
        /// `sealed`; returns the tag and the number of bytes.
        ///
        /// Throws, without writing or advancing the stream, unless this is the next chunk as it was sealed.
        func pull(
            _ sealed: Span<UInt8>, authenticating data: Span<UInt8>, into plain: inout MutableBytes
        ) throws(SodiumRefusal) -> (tag: Tag, count: Int) {
            guard sealed.count >= overhead else { throw SodiumRefusal() }
            precondition(plain.count >= sealed.count - overhead)
            var tag: UInt8 = 0
            let code = unsafe plain.withMutableBase { m, _ in
                unsafe sealed.withBase { c, cCount in
                    unsafe data.withBase { ad, adCount in
                        unsafe crypto_secretstream_xchacha20poly1305_pull(
                            state.pointer, m, nil, &tag, c, UInt64(cCount), ad, UInt64(adCount))
                    }
                }
            }
            guard code == 0 else { throw SodiumRefusal() }
            return (Tag(rawValue: tag), sealed.count - overhead)
        }
    }

    /// The stream's key and position; wiped in deinit.
    @safe
    private struct State: ~Copyable {
        let pointer: UnsafeMutablePointer<crypto_secretstream_xchacha20poly1305_state>

        init() {
            _ = Sodium.started
            unsafe pointer = .allocate(capacity: 1)
            unsafe pointer.initialize(to: crypto_secretstream_xchacha20poly1305_state())
        }

        func begin(key: Span<UInt8>, header: Span<UInt8>) {
            precondition(key.count == keyLength && header.count == headerLength)
            let code = unsafe key.withBase { k, _ in
                unsafe header.withBase { h, _ in
                    unsafe crypto_secretstream_xchacha20poly1305_init_pull(pointer, h, k)
                }
            }
            Sodium.expectSuccess(code)
        }

        deinit {
            unsafe sodium_memzero(pointer, MemoryLayout<crypto_secretstream_xchacha20poly1305_state>.size)
            unsafe pointer.deallocate()
        }
    }
}

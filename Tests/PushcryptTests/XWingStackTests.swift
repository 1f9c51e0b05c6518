#if os(Linux)
    import Glibc
    import PostQuantum
    import Testing

    @testable import Pushcrypt

    /// X-Wing computes on the stack, where libsodium leaves ML-KEM's polynomials and the shared secret; we wipe it.
    @Suite(.postQuantum) struct XWingStackTests {
        /// The stack below a call, read as the kernel has it.
        @safe
        private final class Stack {
            private let file = unsafe open("/proc/self/mem", O_RDONLY)
            private let memory: UnsafeMutableRawBufferPointer

            // Allocated beforehand: reading uses little of what it reads.
            init(depth: Int) { unsafe memory = .allocate(byteCount: depth, alignment: 16) }

            @inline(never)
            func left(by call: () -> Void) -> Bytes {
                var here: UInt8 = 0
                let top = unsafe withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
                Sodium.wipeStack(kibibytes: unsafe memory.count >> 10)
                call()
                let start = off_t(bitPattern: top - UInt(unsafe memory.count))
                let count = unsafe pread(file, memory.baseAddress, memory.count, start)
                return unsafe Bytes(memory.prefix(max(0, count)))
            }

            deinit {
                close(file)
                unsafe memory.deallocate()
            }
        }

        @Test func nothingIsLeftOfItsComputations() throws {
            let seed = Bytes((0..<32).map { UInt8(($0 * 37 + 251) % 256) })
            let random = Bytes((0..<64).map { UInt8(($0 * 91 + 7) % 256) })
            let key = try XWing.publicKey(of: seed.span)
            let sent = try XWing.encapsulate(to: key.span, randomness: random.span)
            let (enc, secret) = (sent.enc, sent.sharedSecret.bytes)
            let stack = Stack(depth: 64 << 10)
            let calls: [() -> Void] = [
                { _ = try? XWing.publicKey(of: seed.span) },
                { _ = try? XWing.encapsulate(to: key.span, randomness: random.span) },
                { _ = try? XWing.decapsulate(enc.span, seed: seed.span) },
            ]
            for call in calls {
                // The first call has the linker look for functions.
                for _ in 0..<2 {
                    let left = stack.left(by: call)
                    #expect(left.count == 64 << 10)
                    // The frames above libsodium's; it leaves 8,000 bytes and more.
                    #expect(left.count { $0 != 0 } < 4000)
                    for half in [secret[..<16], secret[16...], seed[..<16], seed[16...]] {
                        #expect(left.firstRange(of: half) == nil)
                    }
                }
            }
        }
    }
#endif

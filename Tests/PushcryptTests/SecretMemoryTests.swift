#if os(Linux)
    import Glibc
    import Testing

    @testable import Pushcrypt

    /// Where secrets lie, and that nothing of them is left.
    @Suite struct SecretMemoryTests {
        /// 251, 251 + 37, … modulo 256: no two neighbours are the same.
        private static func pattern(_ count: Int, step: Int = 37) -> Bytes {
            Bytes((0..<count).map { UInt8(($0 * step + 251) % 256) })
        }

        // MARK: Guarded memory

        @Test func aWipedArrayIsZeros() {
            var bytes = Bytes([1, 2, 3])
            bytes.wipe()
            #expect(bytes == [0, 0, 0])
        }

        @Test(arguments: [1, 32, 96])
        func guardedPagesAreReadOnlyFencedAndNotDumped(_ count: Int) throws {
            let secret = SecretBytes(copying: Self.pattern(count).span)
            let address = secret.withSpan { $0.address }
            let pageSize = UInt(sysconf(Int32(_SC_PAGESIZE)))

            let pages = try SecretMemory.mapping(at: address)
            #expect(pages.permissions == "r--p")
            #expect(pages.flags.contains("dd"))
            let before = try SecretMemory.mapping(at: address / pageSize * pageSize - 1)
            #expect(before.permissions == "---p")
            let after = try SecretMemory.mapping(at: address + UInt(count))
            #expect(after.permissions == "---p")
        }

        @Test func writingIntoASecretEndsTheProcess() async {
            await #expect(processExitsWith: .signal(SIGSEGV)) {
                signal(SIGSEGV, SIG_DFL)
                let secret = SecretBytes(randomCount: 32)
                secret.withSpan { span in
                    unsafe span.withUnsafeBufferPointer { bytes in
                        unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)?.pointee = 0
                    }
                }
            }
        }

        @Test func readingBehindASecretEndsTheProcess() async {
            await #expect(processExitsWith: .signal(SIGSEGV)) {
                signal(SIGSEGV, SIG_DFL)
                let secret = SecretBytes(randomCount: 32)
                let next = secret.withSpan { span in
                    unsafe span.withUnsafeBufferPointer { unsafe $0.baseAddress?.advanced(by: 32).pointee }
                }
                #expect(next == nil)
            }
        }

        /// The two tests above would pass for any crash at all.
        @Test func readingASecretDoesNotEndTheProcess() async {
            await #expect(processExitsWith: .success) {
                let secret = SecretBytes(randomCount: 32)
                let last = secret.withSpan { span in
                    unsafe span.withUnsafeBufferPointer { unsafe $0.baseAddress?.advanced(by: 31).pointee }
                }
                #expect(last != nil)
            }
        }

        @Test func nothingIsLeftOfASecretThatIsGone() throws {
            let pattern = Self.pattern(96)
            let memory = try SecretMemory(count: 96)
            let address = {
                let secret = SecretBytes(copying: pattern.span)
                let address = secret.withSpan { $0.address }
                #expect(memory.longestRun(of: pattern, at: address) == 96)
                return address
            }()
            #expect(memory.longestRun(of: pattern, at: address) < 4)
        }

        @Test func nothingIsLeftOfASecretThatWasNotFinished() throws {
            let pattern = Self.pattern(96)
            let memory = try SecretMemory(count: 96)
            var address: UInt = 0
            #expect(throws: CancellationError.self) {
                try SecretBytes(count: 96) { (output) throws(CancellationError) in
                    for index in 0..<output.count { output[index] = pattern[index] }
                    address = output.withSpan { $0.address }
                    throw CancellationError()
                }.count
            }
            #expect(address != 0)
            #expect(memory.longestRun(of: pattern, at: address) < 4)
        }

        // MARK: Secrets of one message

        /// The heap keeps its own notes, 16 bytes, at the start of what was freed.
        @Test(arguments: [70, 700])
        func freedMemoryKeepsWhatNobodyWiped(_ count: Int) throws {
            let pattern = Self.pattern(count)
            let memory = try SecretMemory(count: count)
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
            _ = unsafe bytes.initialize(from: pattern)
            let address = UInt(bitPattern: bytes.baseAddress)
            unsafe bytes.deallocate()
            #expect(memory.longestRun(of: pattern, at: address) >= count - 16)
        }

        @Test(arguments: [70, 700])
        func nothingIsLeftOfAnEphemeralThatIsGone(_ count: Int) throws {
            let pattern = Self.pattern(count)
            let memory = try SecretMemory(count: count)
            let address = {
                let secret = Ephemeral(copying: pattern.span)
                let address = secret.withSpan { $0.address }
                #expect(memory.longestRun(of: pattern, at: address) == count)
                return address
            }()
            #expect(memory.longestRun(of: pattern, at: address) < 4)
        }

        // MARK: States that were given up

        /// Blocks of the heap of one size, as those who had them left them; the heap gives out first what was freed last.
        private static func freedBlocks(of size: Int) -> [Bytes] {
            freedBlocks(of: size, count: 8)
        }

        private static func freedBlocks(of size: Int, count: Int) -> [Bytes] {
            if count == 0 { return [] }
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
            let others = freedBlocks(of: size, count: count - 1)
            let left = unsafe Bytes(block)
            // Erased, so that it is not found again.
            _ = unsafe block.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe block.deallocate()
            return others + [left]
        }

        private static func holds(_ blocks: [Bytes], _ secret: some Collection<UInt8>) -> Bool {
            blocks.contains { $0.firstRange(of: secret) != nil }
        }

        /// libsodium wipes a state that comes to its end; one that is given up before holds what it was fed with last.
        @Test func nothingIsLeftOfAHashThatIsGivenUp() {
            let pattern = Self.pattern(48, step: 61)
            let size = 104
            let left = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
            unsafe left.copyBytes(from: repeatElement(0, count: size - pattern.count) + Array(pattern))
            unsafe left.deallocate()
            #expect(Self.holds(Self.freedBlocks(of: size), pattern), "what nobody wipes would not be seen")
            for _ in 0..<8 {
                let hash = SHA256()
                hash.update(pattern.span)
            }
            #expect(!Self.holds(Self.freedBlocks(of: size), pattern[8..<24]))
        }

        @Test func nothingIsLeftOfAnHMACThatIsGivenUp() {
            // Memory that other tests have freed holds the other pattern.
            let (key, pattern) = (Self.pattern(32), Self.pattern(48, step: 53))
            for _ in 0..<8 {
                let hmac = HMACSHA256(key: key.span)
                hmac.update(pattern.span)
            }
            #expect(!Self.holds(Self.freedBlocks(of: 240), pattern[8..<24]))
        }

        @Test func nothingIsLeftOfASecretKeysText() throws {
            let memory = try SecretMemory(count: 70)
            func check(_ text: Span<UInt8>) -> (text: Bytes, address: UInt) {
                #expect(memory.longestRun(of: Bytes(copying: text), at: text.address) == 70)
                return (Bytes(copying: text), text.address)
            }
            let device = try DeviceKey(scalar: Self.pattern(32).span).withText(check)
            #expect(memory.longestRun(of: device.text, at: device.address) < 4)
            let provider = try ProviderKey(seed: Self.pattern(32).span).withText(check)
            #expect(memory.longestRun(of: provider.text, at: provider.address) < 4)
            let signing = try SigningKey(seed: Self.pattern(32).span).withText(check)
            #expect(memory.longestRun(of: signing.text, at: signing.address) < 4)
        }
    }
#endif

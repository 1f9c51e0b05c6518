import CSodium
import Glibc

/// The stack of the one thread that asks, read as the kernel has it: Swift may not look below its own frames.
@safe
final class OwnStack {
    private let file: Int32
    private let depth: Int
    // Allocated beforehand: nothing is done between a call and the reading, which itself uses some of the bytes that it reads.
    private let memory: UnsafeMutableRawBufferPointer

    init(depth: Int) throws {
        file = unsafe open("/proc/self/mem", O_RDONLY)
        guard file >= 0 else { throw Failure("/proc/self/mem cannot be read: \(errno)") }
        self.depth = depth
        unsafe memory = .allocate(byteCount: depth, alignment: 16)
        // The first call of a function has the linker look for it, on this stack.
        _ = unsafe pread(file, memory.baseAddress, 0, 0)
    }

    /// The bytes that a call has left below the frame of this function. The stack is empty before it.
    @inline(never)
    func left(by call: () throws -> Void) throws -> [UInt8] {
        var here: UInt8 = 0
        let top = unsafe withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
        let base = unsafe memory.baseAddress
        sodium_stackzero(depth)
        try call()
        let count = unsafe pread(file, base, depth, off_t(bitPattern: top - UInt(depth)))
        guard count == depth else { throw Failure("the stack cannot be read: \(errno)") }
        return unsafe Array(memory)
    }

    /// An unwiped secret is found, or finding nothing would prove nothing.
    func checkItself() throws {
        let left = try left { Self.spill() }
        guard left.reduce(0, { $0 + ($1 == 0xa5 ? 1 : 0) }) >= 2000 else {
            throw Failure("what a function has left on the stack is not found")
        }
    }

    @inline(never)
    private static func spill() {
        let bytes = InlineArray<2048, UInt8>(repeating: 0xa5)
        // Something has to look at them, or nothing is written.
        unsafe bytes.span.withUnsafeBytes { _ = unsafe write(-1, $0.baseAddress, $0.count) }
    }

    deinit {
        close(file)
        unsafe memory.deallocate()
    }
}

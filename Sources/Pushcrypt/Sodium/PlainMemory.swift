#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Heap memory for a secret of one message, or for a state that holds one. Its owner wipes it, then frees it.
///
/// Not Swift's `allocate`: on Linux that asks for an alignment which `malloc` gives anyway, and takes twice as long.
enum PlainMemory {
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        guard let memory = unsafe malloc(max(1, count)) else { preconditionFailure("no memory is left") }
        return unsafe memory
    }

    static func free(_ memory: UnsafeMutableRawPointer?) {
        #if canImport(Glibc)
            unsafe Glibc.free(memory)
        #elseif canImport(Musl)
            unsafe Musl.free(memory)
        #else
            unsafe Darwin.free(memory)
        #endif
    }
}

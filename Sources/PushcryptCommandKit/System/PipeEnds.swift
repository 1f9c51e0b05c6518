#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A pipe of this process, which other programs do not inherit.
package struct PipeEnds: ~Copyable {
    package let reader: OpenFile
    package let writer: OpenFile

    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .last }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = OpenFile(adopting: Descriptor(number: ends[0]))
        writer = OpenFile(adopting: Descriptor(number: ends[1]))
    }
}

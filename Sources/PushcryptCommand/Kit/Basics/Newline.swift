#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

package let newline = UInt8(ascii: "\n")

extension ContiguousArray where Element == UInt8 {
    /// Returns the offset of the first newline from `start` on.
    package func firstNewline(from start: Int) -> Int? {
        unsafe withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, Int32(newline), bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }
}

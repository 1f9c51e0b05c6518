/// Memory that a callee writes, lent for one call as `inout`.
///
/// A `MutableSpan` would do, but its metadata is not part of the system below iOS 26: code that is not specialised needs
/// it, and an app then has to embed a compatibility library, without which its extension does not start.
@safe
package struct MutableBytes: ~Copyable {
    private let base: UnsafeMutablePointer<UInt8>
    package let count: Int

    /// The memory must not be empty, and must outlive this value.
    package init(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        guard let base = buffer.baseAddress else { preconditionFailure("an empty output buffer") }
        unsafe self.base = base
        count = buffer.count
    }

    package subscript(index: Int) -> UInt8 {
        get {
            precondition(index >= 0 && index < count, "a read beyond its buffer")
            return unsafe base[index]
        }
        set {
            precondition(index >= 0 && index < count, "a write beyond its buffer")
            unsafe base[index] = newValue
        }
    }

    /// Calls `body` with the bytes as they are now.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe UnsafeBufferPointer(start: base, count: count).span)
    }

    /// Calls `body` with a pointer for output.
    package mutating func withMutableBase<R, E: Error>(
        _ body: (UnsafeMutablePointer<UInt8>, Int) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(base, count)
    }

    /// Copies `source` to `offset`; the caller has checked that it fits.
    package mutating func write(_ source: Span<UInt8>, at offset: Int) {
        precondition(offset >= 0 && source.count <= count - offset, "a write beyond its buffer")
        unsafe source.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(base + offset).copyMemory(from: start, byteCount: source.count)
        }
    }

    /// Writes an unsigned big-endian integer at `offset`.
    package mutating func write(bigEndian value: some FixedWidthInteger, at offset: Int) {
        let width = type(of: value).bitWidth
        for (index, shift) in stride(from: width - 8, through: 0, by: -8).enumerated() {
            self[offset + index] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}

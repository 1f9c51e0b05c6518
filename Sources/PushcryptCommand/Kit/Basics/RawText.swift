/// Arguments and paths, whose bytes need not be UTF-8.
///
/// A byte that is not part of UTF-8 becomes a character for private use, U+10FF00 plus the byte; `path` turns it back. Such a
/// character in an argument is read as its four bytes, so that no two arguments become the same text.
package enum RawText {
    private static let bytes: ClosedRange<UInt32> = 0x10FF80...0x10FFFF

    /// The byte that a character stands for; nil if it stands for itself.
    static func byte(of scalar: Unicode.Scalar) -> UInt8? {
        bytes.contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
    }

    /// Whether a text has no byte that is not part of UTF-8.
    package static func isText(_ text: String) -> Bool {
        // The bytes that begin one of these characters, which other texts hardly ever have.
        !text.utf8.contains(0xF4) || !text.unicodeScalars.contains { byte(of: $0) != nil }
    }

    /// Reads the bytes of an argument.
    package static func text(_ bytes: some RandomAccessCollection<UInt8>) -> String {
        let whole = String(decoding: bytes, as: UTF8.self)
        if whole.utf8.elementsEqual(bytes), isText(whole) { return whole }
        var scalars = String.UnicodeScalarView()
        var place = bytes.startIndex
        while place < bytes.endIndex {
            if let (scalar, end) = scalar(at: place, in: bytes) {
                scalars.append(scalar)
                place = end
            } else {
                if let scalar = Unicode.Scalar(0x10FF00 + UInt32(bytes[place])) { scalars.append(scalar) }
                place = bytes.index(after: place)
            }
        }
        return String(scalars)
    }

    private static func scalar<Bytes: RandomAccessCollection<UInt8>>(
        at start: Bytes.Index, in bytes: Bytes
    ) -> (Unicode.Scalar, Bytes.Index)? {
        for length in 1...4 {
            guard let end = bytes.index(start, offsetBy: length, limitedBy: bytes.endIndex) else { return nil }
            let text = String(decoding: bytes[start..<end], as: UTF8.self)
            guard text.utf8.elementsEqual(bytes[start..<end]), let scalar = text.unicodeScalars.first else { continue }
            return byte(of: scalar) == nil ? (scalar, end) : nil
        }
        return nil
    }

    /// A path or argument as the system takes it: its bytes, and a zero.
    package static func path(_ text: String) -> [CChar] {
        var path: [CChar] = []
        for scalar in text.unicodeScalars {
            if let byte = byte(of: scalar) {
                path.append(CChar(bitPattern: byte))
            } else {
                path += UTF8.encode(scalar).map { $0.map(CChar.init(bitPattern:)) } ?? []
            }
        }
        return path + [0]
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import Pushcrypt

/// Seals and opens a file of any size, piece by piece, as a download brings it.
enum AttachmentBench {
    private static let pieceLength = 16_384

    /// Seals so many bytes into a file, and writes what opens it beside it.
    static func seal(_ count: Int, to path: String) throws {
        let piece = ContiguousArray<UInt8>(repeating: 0x5A, count: pieceLength)
        var first = AttachmentSealer.FirstPass()
        forEachPiece(of: count) { first.update(piece.span.extracting(0..<$0)) }
        var sealer = first.sealer(for: ProviderKey())
        let file = try File(path, O_WRONLY | O_CREAT | O_TRUNC)
        var sealed = ContiguousArray<UInt8>()
        try forEachPiece(of: count) { length in
            try sealer.seal(piece.span.extracting(0..<length), into: &sealed)
            try file.put(&sealed)
        }
        let key = try sealer.finish(into: &sealed)
        try file.put(&sealed)
        let reference = try AttachmentReference(
            url: "https://example.com/a", file: key, type: "public.data", name: "a")
        var json = reference.json
        try File(path + ".json", O_WRONLY | O_CREAT | O_TRUNC).put(&json)
    }

    /// Opens such a file; gives the most memory that the process had.
    static func open(_ path: String) throws -> Int {
        var json = ContiguousArray<UInt8>(repeating: 0, count: 4096)
        json.removeLast(json.count - (try File(path + ".json", O_RDONLY).take(into: &json)))
        var opener = AttachmentOpener(try SealedFile(json: json))
        let sealed = try File(path, O_RDONLY)
        let plain = try File(path + ".plain", O_WRONLY | O_CREAT | O_TRUNC)
        var piece = ContiguousArray<UInt8>(repeating: 0, count: pieceLength)
        var opened = ContiguousArray<UInt8>()
        while case let count = try sealed.take(into: &piece), count > 0 {
            try opener.open(piece.span.extracting(0..<count), into: &opened)
            try plain.put(&opened)
        }
        try opener.finish(into: &opened)
        try plain.put(&opened)
        return try peakKilobytes()
    }

    private static func forEachPiece(of count: Int, _ body: (Int) throws -> Void) rethrows {
        for start in stride(from: 0, to: count, by: pieceLength) { try body(min(pieceLength, count - start)) }
    }
}

/// A file that is read or written from its start to its end.
private final class File {
    private let descriptor: CInt

    init(_ path: String, _ flags: CInt) throws(BenchFailure) {
        descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { throw BenchFailure(what: "\(path) cannot be opened") }
    }

    /// Writes all of it, and empties it.
    func put(_ bytes: inout ContiguousArray<UInt8>) throws(BenchFailure) {
        let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw BenchFailure(what: "a file cannot be written") }
        bytes.removeAll(keepingCapacity: true)
    }

    func take(into bytes: inout ContiguousArray<UInt8>) throws(BenchFailure) -> Int {
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw BenchFailure(what: "a file cannot be read") }
        return count
    }

    deinit { close(descriptor) }
}

/// One file of the test kit: what somebody gets, and what must come of it. (`Tests/Data/Vectors/kit/README.md`)
public struct KitVector: Sendable, CustomStringConvertible {
    /// A file that is not as the kit says.
    public struct Failure: Error, CustomStringConvertible {
        /// Which file, and what is wrong with it.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// The place in the kit, for example `envelopes/a-genuine-envelope.txt`.
    public let path: String
    /// The body as bytes, whatever its encoding.
    public let body: ContiguousArray<UInt8>

    private let header: [String: [String]]

    /// Parses one file.
    public init(path: String, _ file: ContiguousArray<UInt8>) throws {
        self.path = path
        func fail(_ fault: String) -> Failure { Failure("\(path): \(fault)") }
        let newline = UInt8(ascii: "\n")
        guard let end = zip(file, file.dropFirst()).enumerated().first(where: { $1 == (newline, newline) })?.offset
        else { throw fail("no empty line ends the header") }
        guard file.count > end + 2, file.last == newline else { throw fail("no newline ends the body") }
        guard
            let lines = String(validating: file[..<end], as: UTF8.self)?.split(
                separator: "\n", omittingEmptySubsequences: false)
        else { throw fail("the header is not UTF-8") }
        var header: [String: [String]] = [:]
        for line in lines {
            let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { throw fail("no header: \(line)") }
            header[String(parts[0]), default: []].append(String(parts[1]))
        }
        self.header = header
        let body = ContiguousArray(file[(end + 2)...].dropLast())
        switch header["encoding"] {
        case nil: self.body = body
        case ["pieces"]:
            guard let bytes = String(validating: body, as: UTF8.self).flatMap(Self.bytes(ofPieces:)) else {
                throw fail("the body is not in pieces")
            }
            self.body = bytes
        default: throw fail("an unknown encoding")
        }
    }

    /// The place in the kit.
    public var description: String { path }

    /// The names of the header's lines, and how often each stands there.
    var names: [String: Int] { header.mapValues(\.count) }

    // MARK: Values

    /// The outcome for the input.
    public var expect: String { header["expect"]?.first ?? "" }

    /// Every value of a name, in order.
    public func all(_ name: String) -> [String] { header[name] ?? [] }

    /// The value of a name that stands once at most.
    public func optional(_ name: String) -> String? { header[name]?.first }

    /// The value of a name that stands once.
    public func one(_ name: String) throws -> String {
        guard let value = optional(name) else { throw Failure("\(path): no \(name)") }
        return value
    }

    /// A number that stands once.
    public func number<Number: FixedWidthInteger>(_ name: String, as type: Number.Type = Number.self) throws -> Number {
        guard let number = Number(try one(name)) else { throw Failure("\(path): \(name) is no number") }
        return number
    }

    /// Hexadecimal digits that stand once.
    public func bytes(_ name: String) throws -> ContiguousArray<UInt8> {
        guard let bytes = Self.bytes(ofHex: try one(name)) else { throw Failure("\(path): \(name) is not hexadecimal") }
        return bytes
    }

    /// The body as text.
    public var text: String {
        get throws {
            guard let text = String(validating: body, as: UTF8.self) else {
                throw Failure("\(path): the body is not UTF-8")
            }
            return text
        }
    }

    // MARK: Bytes

    /// Lower-case hexadecimal digits.
    private static func bytes(ofHex text: some StringProtocol) -> ContiguousArray<UInt8>? {
        let digits = text.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        return ContiguousArray(
            stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) })
    }

    /// Hexadecimal digits between white space; a long run of one byte is written as `00*65536`.
    private static func bytes(ofPieces text: String) -> ContiguousArray<UInt8>? {
        var bytes = ContiguousArray<UInt8>()
        for piece in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            let parts = piece.split(separator: "*", omittingEmptySubsequences: false)
            guard let run = Self.bytes(ofHex: parts[0]), !run.isEmpty else { return nil }
            if parts.count == 1 {
                bytes += run
            } else {
                guard parts.count == 2, run.count == 1, let count = Int(parts[1]), count > 0 else { return nil }
                bytes += repeatElement(run[0], count: count)
            }
        }
        return bytes
    }
}

/// One test of the kit: what somebody gets, and what must come of it. (`Tests/Data/Vectors/README.md`)
public struct KitVector: Sendable, CustomStringConvertible {
    /// A test that is not as the kit says.
    public struct Failure: Error, CustomStringConvertible {
        /// Which test, and what is wrong with it.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// The group and the name, for example `envelopes/a-genuine-envelope`.
    public let path: String
    /// The body as bytes, whatever its encoding.
    public let body: ContiguousArray<UInt8>

    /// A list of one for each member that is no list.
    private let members: [String: [String]]

    /// Reads the members of one test, with those that its group shares. Those of `lists` are lists, and no others.
    init(group: String, _ members: [String: Any], lists: Set<String>) throws {
        guard let name = members["name"] as? String else { throw Failure("\(group): a test without a name") }
        let path = "\(group)/\(name)"
        self.path = path
        var texts: [String: [String]] = [:]
        for (name, value) in members {
            guard let values = lists.contains(name) ? value as? [String] : (value as? String).map({ [$0] }),
                name == "body" || !values.contains("")
            else { throw Failure("\(path): \(name) is empty, or is not what it is elsewhere") }
            // An empty list takes the place of what the group shares.
            if !values.isEmpty || name == "pieces" { texts[name] = values }
        }
        texts["name"] = nil
        switch (texts.removeValue(forKey: "body"), texts.removeValue(forKey: "pieces")) {
        case (let lines?, nil): body = ContiguousArray(lines.joined(separator: "\n").utf8)
        case (nil, let pieces?):
            guard let bytes = Self.bytes(ofPieces: pieces) else { throw Failure("\(path): the body is not in pieces") }
            body = bytes
        default: throw Failure("\(path): no body, or two")
        }
        self.members = texts
    }

    /// The group and the name.
    public var description: String { path }

    /// The names of the members besides the name and the body.
    var names: Set<String> { Set(members.keys) }

    // MARK: Values

    /// The outcome for the input.
    public var expect: String { members["expect"]?.first ?? "" }

    /// Every value of a list, in order.
    public func all(_ name: String) -> [String] { members[name] ?? [] }

    /// The value of a member that a test may lack.
    public func optional(_ name: String) -> String? { members[name]?.first }

    /// The value of a member.
    public func one(_ name: String) throws -> String {
        guard let value = optional(name) else { throw Failure("\(path): no \(name)") }
        return value
    }

    /// The value of a member, as a number.
    public func number<Number: FixedWidthInteger>(_ name: String, as type: Number.Type = Number.self) throws -> Number {
        guard let number = Number(try one(name)) else { throw Failure("\(path): \(name) is no number") }
        return number
    }

    /// The value of a member, as bytes in hexadecimal digits.
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

    /// Hexadecimal digits; a long run of one byte is written as `00*65536`.
    private static func bytes(ofPieces pieces: [String]) -> ContiguousArray<UInt8>? {
        var bytes = ContiguousArray<UInt8>()
        for piece in pieces {
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

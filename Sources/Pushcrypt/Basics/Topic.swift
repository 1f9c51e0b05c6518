/// The app a message is for: its bundle id, which every envelope is bound to.
///
/// Exactly the bytes of the bundle id, 1 to 255 of ASCII letters, digits, `.` and `-`; without a push-type suffix such
/// as `.voip`, and never the extension's own id. (`Docs/Format.md`, Context)
public struct Topic: Hashable, Sendable, CustomStringConvertible {
    /// The longest topic in bytes.
    public static let maximumLength = 255

    /// The bundle id.
    public let bundleID: String

    /// A u16 length and the bytes: how the format writes the context.
    let lengthPrefixed: ContiguousArray<UInt8>

    /// Takes a bundle id, for example `com.example.app`; throws `InvalidTopic`.
    public init(_ bundleID: String) throws(InvalidTopic) {
        let bytes = ContiguousArray(bundleID.utf8)
        guard (1...Self.maximumLength).contains(bytes.count), bytes.allSatisfy(Self.isAllowed) else {
            throw InvalidTopic()
        }
        self.bundleID = bundleID
        var lengthPrefixed = ContiguousArray<UInt8>()
        lengthPrefixed.append(bigEndian: UInt16(bytes.count))
        lengthPrefixed.append(contentsOf: bytes)
        self.lengthPrefixed = lengthPrefixed
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
    }

    /// The bundle id.
    public var description: String { bundleID }
}

/// A topic that is no bundle id.
public struct InvalidTopic: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a topic must look like.
    public var description: String {
        "a topic is the app's bundle id, 1 to 255 ASCII letters, digits, '.' and '-', for example com.example.app"
    }
}

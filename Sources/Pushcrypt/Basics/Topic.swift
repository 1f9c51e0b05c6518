/// The app that a message is for, by its bundle id; every envelope is bound to it.
///
/// Exactly the bytes of the bundle id: 1 to 255 ASCII letters, digits, `.` and `-`, without a push-type suffix such as
/// `.voip`. It is always the app's id, never the extension's. (`Docs/Format.md`, Context)
public struct Topic: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a topic in bytes.
    package static let maximumLength = 255

    /// The bundle id.
    public let bundleID: String

    /// A 16-bit length and the bytes: the form of the context in the format.
    let lengthPrefixed: ContiguousArray<UInt8>

    /// Creates a topic from a bundle id, for example `com.example.app`.
    ///
    /// - Throws: `InvalidTopic`.
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

/// An error for a topic that is not a bundle id.
public struct InvalidTopic: Error, Hashable, Sendable, CustomStringConvertible {
    /// The required form of a topic.
    public var description: String {
        "a topic is the app's bundle id, 1 to 255 ASCII letters, digits, '.' and '-', for example com.example.app"
    }
}

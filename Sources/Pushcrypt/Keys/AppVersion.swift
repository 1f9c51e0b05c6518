/// The version of the app that a device runs, as the app itself says it, for example `2.3.1`.
///
/// For the provider's statistics and for support: it proves nothing, and nothing is decided by it. Two are equal when
/// their bytes are, and none is older than another. (`Docs/Format.md`, Registration record)
public struct AppVersion: Hashable, Sendable, LosslessStringConvertible {
    /// The most bytes of UTF-8 that a version has.
    public static let maximumLength = 64

    /// The version as it was given.
    public let description: String

    /// Takes 1 to 64 bytes without control characters; nil for anything else.
    public init?(_ description: String) {
        guard (1...Self.maximumLength).contains(description.utf8.count),
            !description.unicodeScalars.contains(where: \.isControl)
        else { return nil }
        self.description = description
    }

    /// Compares bytes, where a string would take two spellings of one accented letter for the same.
    public static func == (a: AppVersion, b: AppVersion) -> Bool {
        a.description.utf8.elementsEqual(b.description.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}

/// An error with a code for programs and a description for people.
///
/// Every error of this library conforms. Two errors are equal if their codes are. A description says what happened,
/// where, and what to do next, and never contains key or payload bytes. A later version may add codes, so a `switch`
/// over them needs a default.
public protocol CodedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The type of the code; prints as lower-case words with hyphens.
    associatedtype Code: Hashable, Sendable, CustomStringConvertible

    /// The kind of error.
    var code: Code { get }
}

extension CodedError {
    /// Compares codes.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

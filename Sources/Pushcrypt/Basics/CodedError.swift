/// The shape of every error of this library: a code for programs, a description for people.
///
/// Two errors are equal when their codes are. A description says what happened, where, and what to do next, and never holds
/// key or payload bytes. More codes may come: a `switch` over them needs a default.
public protocol CodedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What programs tell errors apart by; prints as lower-case words with hyphens.
    associatedtype Code: Hashable, Sendable, CustomStringConvertible

    /// What is wrong.
    var code: Code { get }
}

extension CodedError {
    /// Compares codes.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

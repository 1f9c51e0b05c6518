internal import Foundation

/// Writes to the system's log; here to standard error.
public struct Logger: @unchecked Sendable {
    private let label: String

    /// Creates a logger whose lines can be found by subsystem and category.
    public init(subsystem: String, category: String) { label = "\(subsystem) \(category)" }

    /// Writes a line that helps, but is not needed.
    public func info(_ message: OSLogMessage) { write(message) }

    /// Writes a line about an error.
    public func error(_ message: OSLogMessage) { write(message) }

    private func write(_ message: OSLogMessage) {
        try? FileHandle.standardError.write(contentsOf: Data("\(label): \(message.text)\n".utf8))
    }
}

/// A line of the log, which a literal makes.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    fileprivate let text: String

    /// Creates a line from a literal.
    public init(stringLiteral value: String) { text = value }

    /// Creates a line from a literal with values in it.
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// The values in a line. Those that are not public are hidden in the log; numbers are public.
public struct OSLogInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    /// Creates an empty line.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Adds what is written in the code.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a text.
    public mutating func appendInterpolation(
        _ argumentString: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
    ) { append(argumentString(), privacy) }

    /// Adds a value with a description.
    public mutating func appendInterpolation<T: CustomStringConvertible>(
        _ value: @autoclosure @escaping () -> T, privacy: OSLogPrivacy = .auto
    ) { append(value().description, privacy) }

    /// Adds a number.
    public mutating func appendInterpolation(
        _ number: @autoclosure @escaping () -> Int, privacy: OSLogPrivacy = .auto
    ) { text += "\(number())" }

    private mutating func append(_ value: String, _ privacy: OSLogPrivacy) {
        text += privacy == .public ? value : "<private>"
    }
}

/// Permission to read a value in the log.
public struct OSLogPrivacy: Equatable, Sendable {
    private let isPublic: Bool

    /// As the system decides: texts are hidden.
    public static let auto = OSLogPrivacy(isPublic: false)
    /// Everyone.
    public static let `public` = OSLogPrivacy(isPublic: true)
    /// Nobody.
    public static let `private` = OSLogPrivacy(isPublic: false)
}

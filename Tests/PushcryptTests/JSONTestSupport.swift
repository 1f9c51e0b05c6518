import Foundation
@testable import Pushcrypt

extension JSONDocument {
    /// Parses a text written in the test.
    init(_ text: String) throws {
        try self.init(parsing: ContiguousArray(text.utf8))
    }
}

extension JSONValue {
    /// The value's bytes as they came, with the white space inside.
    var raw: ContiguousArray<UInt8> { ContiguousArray(document.bytes[range]) }
}

/// The refusal of these bytes, or `nil` if they are accepted.
func jsonRefusal(of bytes: ContiguousArray<UInt8>, maximumBytes: Int = JSONDocument.defaultMaximumBytes) -> JSONError? {
    do {
        _ = try JSONDocument(parsing: bytes, maximumBytes: maximumBytes)
        return nil
    } catch {
        return error
    }
}

/// The refusal of a text, or `nil` if it is accepted.
func jsonRefusal(of text: String) -> JSONError? { jsonRefusal(of: ContiguousArray(text.utf8)) }

/// Bytes as text, for comparisons that print well.
func jsonText(_ bytes: ContiguousArray<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// The time that the processor has worked on this thread, in seconds: other work on the machine does not lengthen it.
func processorSeconds() -> Double {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

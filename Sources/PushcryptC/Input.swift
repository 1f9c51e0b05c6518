internal import CPushcrypt
internal import Pushcrypt

// What a caller's pointers lead to. Nothing is copied here: a secret is read where it lies.

/// The longest text, its NUL included.
private let longestText = Int(PUSHCRYPT_TEXT_MAX)
/// No version of a structure is larger, in bytes.
private let largestStructure = 4096

/// The bytes before a text's NUL; throws for NULL, and where no NUL is in reach.
func text(_ start: UnsafePointer<CChar>?, _ name: String) throws(CallError) -> UnsafeBufferPointer<UInt8> {
    guard let start = unsafe start else { throw .invalid("\(name) is NULL") }
    var count = 0
    while unsafe start[count] != 0 {
        count += 1
        guard count < longestText else {
            throw .invalid("\(name) has no NUL among its first \(longestText) bytes")
        }
    }
    return unsafe UnsafeRawBufferPointer(start: start, count: count).assumingMemoryBound(to: UInt8.self)
}

/// A text that is no secret; throws for what is no UTF-8, too.
func string(_ start: UnsafePointer<CChar>?, _ name: String) throws(CallError) -> String {
    let bytes = try unsafe text(start, name)
    guard let string = unsafe String(validating: bytes, as: UTF8.self) else { throw .invalid("\(name) is not UTF-8") }
    return string
}

/// Bytes of a length; of more than `limit` one too many, so that they are refused for what they are.
func bytes(
    _ start: UnsafePointer<CChar>?, _ count: Int, limit: Int, _ name: String
) throws(CallError) -> UnsafeBufferPointer<UInt8> {
    // A size_t above the half of all memory is negative here.
    guard count >= 0 else { throw .invalid("\(name)_length is larger than any memory: is it a negative number?") }
    guard let start = unsafe start else {
        guard count == 0 else { throw .invalid("\(name) is NULL") }
        return unsafe UnsafeBufferPointer(start: nil, count: 0)
    }
    return unsafe UnsafeRawBufferPointer(start: start, count: min(count, limit + 1))
        .assumingMemoryBound(to: UInt8.self)
}

/// The app that a message is for.
func topic(_ start: UnsafePointer<CChar>?) throws(CallError) -> Topic {
    let bundleID = try unsafe string(start, "topic")
    do throws(InvalidTopic) {
        return try Topic(bundleID)
    } catch {
        throw .invalid("topic: \(error)")
    }
}

/// Checks the size that a caller gives its structure: it has at least what this version knows, and no more than any
/// version will.
func misfit(_ size: Int, atLeast known: Int, _ name: String) -> CallError? {
    (known...largestStructure).contains(size)
        ? nil : .invalid("\(name)->size is not the structure's: set it to sizeof *\(name)")
}

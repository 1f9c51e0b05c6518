internal import CPushcrypt
internal import Pushcrypt

// Access to the caller's memory. Nothing is copied: secrets are read in place.

/// The maximum length of a text, including its NUL.
private let longestText = Int(PUSHCRYPT_TEXT_MAX)
/// The maximum size of any version of a structure, in bytes.
private let largestStructure = 4096

/// Returns the bytes before a text's NUL; throws for NULL, and if there is no NUL within the limit.
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

/// Returns a text that is not secret; throws also if it is not UTF-8.
func string(_ start: UnsafePointer<CChar>?, _ name: String) throws(CallError) -> String {
    let bytes = try unsafe text(start, name)
    guard let string = unsafe String(validating: bytes, as: UTF8.self) else { throw .invalid("\(name) is not UTF-8") }
    return string
}

/// Returns `count` bytes, or only `limit` + 1 if there are more, so that the input is refused as too long.
func bytes(
    _ start: UnsafePointer<CChar>?, _ count: Int, limit: Int, _ name: String
) throws(CallError) -> UnsafeBufferPointer<UInt8> {
    // A size_t above half of the address space is negative here.
    guard count >= 0 else { throw .invalid("\(name)_length is larger than any memory; it may be a negative number") }
    guard let start = unsafe start else {
        guard count == 0 else { throw .invalid("\(name) is NULL") }
        return unsafe UnsafeBufferPointer(start: nil, count: 0)
    }
    return unsafe UnsafeRawBufferPointer(start: start, count: min(count, limit + 1))
        .assumingMemoryBound(to: UInt8.self)
}

/// Returns the topic from its text.
func topic(_ start: UnsafePointer<CChar>?) throws(CallError) -> Topic {
    let bundleID = try unsafe string(start, "topic")
    do throws(InvalidTopic) {
        return try Topic(bundleID)
    } catch {
        throw .invalid("topic: \(error)")
    }
}

/// Returns the error for a wrong size of a caller's structure: smaller than this version's, or larger than any
/// version's.
func misfit(_ size: Int, atLeast known: Int, _ name: String) -> CallError? {
    (known...largestStructure).contains(size)
        ? nil : .invalid("\(name)->size is not the size of the structure: set it to sizeof *\(name)")
}

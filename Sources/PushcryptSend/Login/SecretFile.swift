internal import COpenSSL
internal import PushcryptCommandKit

/// Reads a secret from every source that `readSecret` reads, as strictly, calls `body` with it, and wipes it. A zero byte, which
/// is not counted, follows it.
///
/// - Parameter isText: Whether a newline at the end does not belong to it.
func withSecret<R>(
    from source: String, _ console: Console, capacity: Int = Console.secretCapacity, isText: Bool = true,
    _ body: (UnsafeRawBufferPointer) throws -> R
) throws -> R {
    let room = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity + 1)
    unsafe room.initialize(repeating: 0)
    defer {
        unsafe OPENSSL_cleanse(room.baseAddress, room.count)
        unsafe room.deallocate()
    }
    var span = unsafe UnsafeMutableBufferPointer(rebasing: room[..<capacity]).mutableSpan
    let count = try console.readSecret(from: source, isText: isText, into: &span)
    unsafe room[count] = 0
    return try unsafe body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: room[..<count])))
}

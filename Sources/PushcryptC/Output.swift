internal import CPushcrypt
internal import Pushcrypt

/// Runs a call: writes its output for the caller, or stores its error, and returns the result. After success, a topic that is
/// probably wrong leaves a warning.
func call(
    about topicID: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?,
    _ body: () throws(CallError) -> ContiguousArray<UInt8>
) -> CInt {
    if let length = unsafe length { unsafe length.pointee = 0 }
    do throws(CallError) {
        guard let length = unsafe length else { throw .invalid("length is NULL") }
        guard capacity >= 0 else { throw .invalid("capacity is larger than any memory; it may be a negative number") }
        guard unsafe capacity == 0 || out != nil else {
            throw .invalid("the output is NULL, but its capacity is not 0")
        }
        let made = try body()
        unsafe length.pointee = made.count
        guard let out = unsafe out, made.count <= capacity else { throw .tooSmall(capacity, needed: made.count) }
        unsafe UnsafeMutableRawBufferPointer(start: out, count: capacity).copyBytes(from: made)
        try unsafe keep(warning(of: topic(topicID)))
        return PUSHCRYPT_DONE
    } catch {
        keep(error.text)
        return error.result
    }
}

/// Returns a warning for a bundle id that ends like the APNs topic of a call; empty for most.
private func warning(of topic: Topic) -> String {
    let suffix = PushType.voip.topicSuffix
    guard topic.bundleID.hasSuffix(suffix) else { return "" }
    return
        "warning: topic ends with \(suffix), as topics of APNs do: give the app's bundle id, or phones look for another app"
}

/// Stores the text for `pushcrypt_last_error` on this thread.
private func keep(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
        unsafe utf8.withMemoryRebound(to: CChar.self) { unsafe pushcrypt_keep_error($0.baseAddress, $0.count) }
    }
}

internal import Pushcrypt

/// What has come from a signer and was not taken yet.
///
/// One of the signatures is a secret: the hedge key comes of it. So what was taken is overwritten.
struct SignerInput: ~Copyable {
    /// Far more than the longest reply: behind the beginning of one there is always room.
    private static let capacity = 65_536

    private var buffer = Ephemeral(count: capacity)
    private var count = 0

    /// Has `read` write into the buffer from a place on; it gives the number of bytes, and so does this.
    mutating func fill<E: Error>(_ read: (inout MutableSpan<UInt8>, Int) throws(E) -> Int) throws(E) -> Int {
        let more = try buffer.withMutableSpan { [count] (span) throws(E) in try read(&span, count) }
        count += more
        return more
    }

    /// Takes every reply that is all there.
    mutating func takeReplies() throws(SignerFrames.Malformed) -> [SignerFrames.Reply] {
        var replies: [SignerFrames.Reply] = []
        let taken = try buffer.withSpan { [count] (span) throws(SignerFrames.Malformed) in
            var start = 0
            while let (reply, end) = try SignerFrames.reply(in: span.extracting(..<count), at: start) {
                replies.append(reply)
                start = end
            }
            return start
        }
        remove(taken)
        return replies
    }

    private mutating func remove(_ taken: Int) {
        guard taken > 0 else { return }
        buffer.withMutableSpan { [count] span in
            for index in 0..<count { span[index] = taken + index < count ? span[taken + index] : 0 }
        }
        count -= taken
    }
}

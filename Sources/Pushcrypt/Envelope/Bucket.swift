/// The lengths an inner plaintext may have, so that an envelope's length says little about its content.
///
/// A sealer uses the smallest that fits; a receiver takes any. (`Docs/Format.md`, Buckets)
enum Bucket {
    /// Every length, ascending, in bytes.
    static let all = [256, 512, 1024, 1536, 2048, 2560, largestForAlert, largest]

    /// The largest whose envelope fits a push of 4096 bytes.
    static let largestForAlert = 2816
    /// The largest whose envelope fits a push of 5120 bytes.
    static let largest = 3584

    /// The smallest bucket that holds `innerLength` bytes and is at most `limit`, or nil.
    static func smallest(holding innerLength: Int, limit: Int) -> Int? {
        all.first { $0 >= innerLength && $0 <= limit }
    }
}

internal import CCurl

/// Reads the header `date`, which rarely differs from the last one.
struct ServerTime {
    /// The seconds of a time that is one: until the end of the year 9999.
    static let range: ClosedRange<Int64> = 1...253_402_300_799

    private var text: ContiguousArray<UInt8> = []
    private var time: UInt64?

    /// The time since 1970-01-01 UTC; nil if it is none.
    mutating func milliseconds(_ date: UnsafeBufferPointer<UInt8>) -> UInt64? {
        if unsafe !date.elementsEqual(text) {
            text = unsafe ContiguousArray(date)
            let seconds = unsafe curl_getdate(String(decoding: text, as: UTF8.self), nil)
            time = Self.range.contains(Int64(seconds)) ? UInt64(seconds) * 1000 : nil
        }
        return time
    }
}

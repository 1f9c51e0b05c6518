internal import CCurl
internal import CNghttp2

/// A request that is open.
final class HTTP2Stream {
    let delivery: Delivery
    var written = 0
    /// Whether the last byte of the request was handed to the connection.
    var isSent = false
    var status = 0
    var apnsID: String?
    var retryAfter: String?
    /// APNs' time, in milliseconds since 1970-01-01 UTC.
    var time: UInt64?
    var answer: ContiguousArray<UInt8> = []
    /// Whether the whole answer has arrived.
    var isAnswered = false
    /// Whether APNs has decided: for a message that it takes, with the headers of its answer.
    var isDecided: Bool { isAnswered || status == 200 }

    init(_ delivery: Delivery) { self.delivery = delivery }
}

/// An error of nghttp2, such as a peer that breaks the protocol.
struct HTTP2Error: Error {
    let code: Int32

    var text: String {
        unsafe nghttp2_strerror(code).map { unsafe String(cString: $0) }.map {
            $0.prefix(1).lowercased() + $0.dropFirst()
        }
            ?? "HTTP/2 error \(code)"
    }
}

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

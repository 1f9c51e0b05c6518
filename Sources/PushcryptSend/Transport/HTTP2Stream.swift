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

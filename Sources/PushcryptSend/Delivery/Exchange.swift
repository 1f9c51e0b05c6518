/// A request of HTTP, by its parts.
struct Request {
    var method = "POST"
    let path: String
    /// Lower-case names and printable values, in the order in which they are sent.
    var headers: [(name: String, value: String)] = []
    /// The value of `authorization`, which stays out of the compression tables of both sides.
    var authorization: String?
    var body: ContiguousArray<UInt8> = []
}

/// The response to a request.
struct Response {
    var status = 0
    var apnsID: String?
    var retryAfter: String?
    /// The `date` header, in milliseconds since 1970-01-01 UTC.
    var time: UInt64?
    var body: ContiguousArray<UInt8> = []
}

internal import Pushcrypt
internal import PushcryptCommandKit

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

/// What came of it.
struct Response {
    var status = 0
    var apnsID: String?
    var retryAfter: String?
    /// The `date` header, in milliseconds since 1970-01-01 UTC.
    var time: UInt64?
    var body: ContiguousArray<UInt8> = []
}

/// Where messages go, and how they are asked for.
protocol Route: AnyObject {
    /// The longest body of an answer that is read, in bytes.
    static var longestAnswer: Int { get }
    var destination: Destination { get }

    /// Makes the request for some messages.
    ///
    /// - Parameter time: The server's, as far as it is known.
    func request(_ sent: Sent, at time: UInt64) throws(CommandFailure) -> Request

    /// Reads a response: an answer for each message, whatever the response is.
    func answers(_ response: Response, to sent: Sent) -> [PushAnswer]
}

internal import PushcryptCommandKit

/// Where messages go, and how they are asked for.
protocol Route: AnyObject {
    /// The longest body of an answer that is read, in bytes.
    static var longestAnswer: Int { get }
    var destination: Destination { get }

    /// Makes the request for some messages.
    ///
    /// - Parameter time: The server's, as far as it is known.
    func request(_ sent: Sent, at time: UInt64) throws -> Request

    /// Reads a response: an answer for each message, whatever the response is.
    func answers(_ response: Response, to sent: Sent) -> [PushAnswer]
}

internal import Pushcrypt
internal import PushcryptCommandKit

/// Apple's server: a request has one message.
final class APNsRoute: Route {
    static let longestAnswer = PushAnswer.maximumBody

    let destination: Destination
    private let token: ProviderToken?
    private let console: Console

    /// - Parameter token: Nil if the destination has a certificate.
    init(_ destination: Destination, _ token: ProviderToken?, _ console: Console) {
        (self.destination, self.token, self.console) = (destination, token, console)
    }

    func request(_ sent: Sent, at time: UInt64) throws -> Request {
        let push = sent.messages[0].push
        return Request(
            path: "/3/device/" + push.deviceToken, headers: push.headers,
            authorization: try token?.authorization(sent.token, at: time, console), body: push.payload)
    }

    func answers(_ response: Response, to sent: Sent) -> [PushAnswer] { [PushAnswer(response)] }
}

internal import Pushcrypt
internal import PushcryptCommandKit

/// A publisher's relay: a request has up to 45 messages, and is signed. (`Docs/Relay.md`)
final class RelayRoute: Route {
    static let longestAnswer = 262_144
    /// The codes with which a relay refuses a request.
    private static let codes: Set = [
        "malformed-request", "bad-signature", "clock", "too-large", "too-many-requests", "relay-unavailable",
        "not-found", "wrong-method",
    ]

    let destination: Destination
    private let origin: RelayOrigin
    private let keys: () throws -> [PushKey]

    /// - Parameter keys: Returns the push key, and one before or after it; none if nothing is sent.
    init(_ destination: Destination, _ origin: RelayOrigin, _ keys: @escaping () throws -> [PushKey]) {
        (self.destination, self.origin, self.keys) = (destination, origin, keys)
    }

    func request(_ sent: Sent, at time: UInt64) throws -> Request {
        // A question for the time.
        let keys = try sent.number > 0 ? keys() : []
        let key = sent.messages[0].usesOtherKey ? keys.last : keys.first
        guard let key else { return Request(method: "GET", path: "/v1/relay") }
        let signed = RelayRequest(
            sent.messages.map(\.push.payload), to: origin, signedBy: key, at: Timestamp(milliseconds: time))
        return Request(
            path: RelayRequest.path, headers: signed.headers.map { ($0.name.lowercased(), $0.value) }, body: signed.body
        )
    }

    func answers(_ response: Response, to sent: Sent) -> [PushAnswer] {
        let root = try? JSONDocument(parsing: response.body, maximumBytes: Self.longestAnswer).root
        var answers: [PushAnswer]
        if response.status == 200, let given = root?["answers"]?.elements, given.count == sent.messages.count {
            answers = given.map(Self.answer)
        } else {
            answers = Array(repeating: whole(response, root), count: sent.messages.count)
        }
        for index in answers.indices {
            answers[index].time = answers[index].time ?? response.time
            answers[index].dateEnd()
        }
        return answers
    }

    /// Reads what is not one answer for each message.
    private func whole(_ response: Response, _ root: JSONValue?) -> PushAnswer {
        var answer = PushAnswer(status: response.status)
        answer.isRelays = true
        if response.status != 200, let code = root?["code"]?.string, Self.codes.contains(code) {
            answer.reason = code
            answer.isWhole = true
            answer.retryAfter = PushAnswer.seconds(response.retryAfter)
            if code == "clock", let now = root?["now"]?.integer, 0...Int64(Timestamp.maximum.milliseconds) ~= now {
                answer.time = UInt64(now)
            }
        } else {
            // An answer that is missing means that it is unknown; a proxy may have passed the request on.
            answer.isUnknown = response.status == 200 || 500...599 ~= response.status
            answer.isForeign = !answer.isUnknown
        }
        return answer
    }

    /// Reads the answer to one message.
    private static func answer(_ value: JSONValue) -> PushAnswer {
        var answer = PushAnswer(status: value["status"]?.integer.flatMap(Int.init(exactly:)) ?? 0)
        answer.retryAfter = value["retry_after"]?.integer.flatMap(UInt32.init(exactly:)).map { UInt64($0) * 1000 }
        func word(_ name: String) -> String? { value[name]?.string.flatMap { PushAnswer.isWord($0) ? $0 : nil } }
        switch (value["from"]?.string, value["sent"]?.string) {
        case ("apns", _) where answer.status == 200:
            answer.apnsID = word("apns_id")
            answer.grantExpires = value["grant_expires"]?.integer.flatMap(UInt64.init(exactly:))
        case ("apns", "no") where answer.status > 0:
            answer.reason = word("reason")
            answer.timestamp = value["timestamp"]?.integer
        case ("relay", "no") where answer.status > 0 && answer.status != 200:
            answer.reason = word("code")
            answer.isRelays = true
        default:
            answer.reason = word("code")
            (answer.isRelays, answer.isUnknown) = (true, true)
        }
        return answer
    }
}

internal import Pushcrypt

/// What came of a request to a relay.
enum RelayResponse: Equatable {
    /// One for each message, in order.
    case answers([RelayAnswer])
    /// The relay has sent nothing of the request.
    case refused(APNsAnswer)
    /// The relay's time, by which the request was too old or too new.
    case clock(now: UInt64)
    /// The request did not reach the relay, for the reason given.
    case unread(String)
    /// Nobody knows what has come of the request.
    case unknown
    /// It is no relay that answers.
    case strange(APNsAnswer)
}

/// What came of one message.
enum RelayAnswer: Equatable {
    case apns(APNsAnswer)
    /// APNs may have it.
    case unknown
}

// MARK: Reading

extension RelayResponse {
    /// The most bytes of a body that are read.
    static let maximumBody = 262_144

    /// Reads a response to a request with so many messages. Whatever it is, each message has an answer.
    ///
    /// - Parameter retryAfter: The header of that name.
    init(status: Int, retryAfter: String?, body: ContiguousArray<UInt8>, messages: Int) {
        let root = try? JSONDocument(parsing: body, maximumBytes: Self.maximumBody).root
        if status == 200 {
            let answers = root?["answers"]?.elements.map(RelayAnswer.init) ?? []
            // An answer that is missing means that it is unknown.
            self = answers.count == messages ? .answers(answers) : .unknown
            return
        }
        guard let code = root?["code"]?.string, Self.codes.contains(code) else {
            // A proxy that had no answer from the relay may have given it the request.
            let answer = APNsAnswer(status: status)
            self = (500...599).contains(status) ? .unknown : .strange(answer.ofRelay)
            return
        }
        if code == "clock", let now = root?["now"]?.integer, (0...Int64(Timestamp.maximum.milliseconds)).contains(now) {
            self = .clock(now: UInt64(now))
            return
        }
        var answer = APNsAnswer(status: status, reason: code).ofRelay
        answer.retryAfter = retryAfter.flatMap { UInt32($0) }.map { UInt64($0) * 1000 }
        self = .refused(answer)
    }

    /// The codes with which a relay refuses a request.
    private static let codes: Set = [
        "malformed-request", "bad-signature", "clock", "too-large", "too-many-requests", "relay-unavailable",
        "not-found", "wrong-method",
    ]
}

extension RelayAnswer {
    fileprivate init(_ value: JSONValue) {
        guard let status = value["status"]?.integer, let status = Int(exactly: status) else {
            self = .unknown
            return
        }
        var answer = APNsAnswer(status: status)
        answer.retryAfter = value["retry_after"]?.integer.flatMap(UInt32.init(exactly:)).map { UInt64($0) * 1000 }
        switch (value["from"]?.string, value["sent"]?.string) {
        case ("apns", _) where status == 200:
            answer.apnsID = value["apns_id"]?.string.flatMap { APNsAnswer.isWord($0) ? $0 : nil }
            answer.grantExpires = value["grant_expires"]?.integer.flatMap(UInt64.init(exactly:))
        case ("apns", "no"):
            answer.reason = value["reason"]?.string.flatMap { APNsAnswer.isWord($0) ? $0 : nil }
            answer.timestamp = value["timestamp"]?.integer
        case ("relay", "no") where status != 200:
            answer.reason = value["code"]?.string.flatMap { APNsAnswer.isWord($0) ? $0 : nil }
            answer.isRelays = true
        default:
            self = .unknown
            return
        }
        self = .apns(answer)
    }
}

extension APNsAnswer {
    /// The same as said by a relay.
    var ofRelay: APNsAnswer {
        var answer = self
        answer.isRelays = true
        return answer
    }
}

/// What a relay says of itself.
struct RelayFacts: Equatable {
    let origin: String
    let mostMessages: Int

    /// Reads the answer to `GET /v1/relay`; nil if it is not one of version 1.
    init?(status: Int, body: ContiguousArray<UInt8>) {
        guard status == 200, let root = try? JSONDocument(parsing: body, maximumBytes: RelayResponse.maximumBody).root,
            root["version"]?.integer == 1, let origin = root["origin"]?.string,
            let count = root["max_messages"]?.integer, count >= 1
        else { return nil }
        self.origin = origin
        mostMessages = Int(min(count, Int64(RelayRequest.mostMessages)))
    }
}

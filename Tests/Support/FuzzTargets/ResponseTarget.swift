@testable import Pushcrypt
@testable import PushcryptCommand
@testable import PushcryptCommandKit
@testable import PushcryptSend

/// Answers of APNs and relays: parts of a response, or the bytes of a connection with three requests.
///
/// Input: which of these; for a relay status, messages and body; for a response the outcome, status and the lengths of two headers, then these and the body; for a connection the
/// length of its pieces, then its bytes.
struct ResponseTarget: FuzzTarget {
    static let name = "response"

    private static let line = Bytes(
        #"{"to":"phone1","id":"a","topic":"b","priority":5,"collapse_id":"c","payload":{"aps":{}},"token":"0a","user":[1]}"#
            .utf8)

    func run(_ input: Bytes) {
        var choices = Choices(input)
        switch choices.byte() & 3 {
        case 0, 2: checkAnswer(&choices)
        case 1: checkConnection(&choices)
        default: checkRelay(&choices)
        }
    }

    // MARK: A relay

    private func checkRelay(_ choices: inout Choices) {
        let (status, messages) = (Int(choices.integer(UInt16.self)), choices.number(below: 4) + 1)
        let pause = String(decoding: choices.bytes(choices.number(below: 8)), as: UTF8.self)
        guard let origin = RelayOrigin("https://push.example.com") else { fail("response: there is an origin") }
        let sent = (1...messages).map { Message(number: $0, push: PushToSend(deviceToken: "0a"), end: .max) }
        let answers = RelayRoute(Destination(host: "push.example.com"), origin) { [] }.answers(
            Response(status: status, retryAfter: pause, body: choices.rest()), to: Sent(sent, token: 0, at: 0))
        require(answers.count == messages, "response: each message has its answer")
        for answer in answers {
            let isAccepted = answer.scope == .accepted
            require(!isAccepted || status == 200 && answer.status == 200, "response: a refusal accepts nothing")
            require((answer.time ?? 0) <= Timestamp.maximum.milliseconds, "response: a clock has a time")
            check(isAccepted ? .accepted(answer) : .refused(answer), answer)
        }
    }

    // MARK: A response

    private func checkAnswer(_ choices: inout Choices) {
        let outcome = choices.byte()
        let status = Int(choices.integer(UInt16.self))
        let (idLength, pauseLength) = (choices.number(below: 110), choices.number(below: 16))
        func text(_ bytes: Bytes) -> String { String(decoding: bytes, as: UTF8.self) }
        let id = text(choices.bytes(idLength))
        let pause = text(choices.bytes(pauseLength))
        let answer = PushAnswer(
            Response(status: status, apnsID: id, retryAfter: pause, body: choices.rest()))
        require(answer.status == status, "response: the status is kept")
        for word in [answer.reason, answer.apnsID].compactMap({ $0 }) {
            require(
                (1...100).contains(word.utf8.count)
                    && word.utf8.allSatisfy {
                        $0 == 0x2D || 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0
                    },
                "response: only words are repeated")
        }
        require((answer.retryAfter ?? 0) <= UInt64(UInt32.max) * 1000, "response: a pause is a number of seconds")
        require(answer.kind.utf8.count < 120, "response: a counter has a short name")
        require((answer.scope == .accepted) == (status == 200), "response: only 200 accepts a message")
        switch outcome % 6 {
        case 0: check(.refused(answer), answer)
        case 1: check(.gaveUp(answer), answer)
        case 2: check(.expired(.answer(answer)), answer)
        case 3: check(.held(answer), nil)
        case 4: check(.stopped(answer), answer)
        default: check(.accepted(answer), answer)
        }
    }

    private func check(_ outcome: Outcome, _ answer: PushAnswer?) {
        let text = SendLine(Self.line, number: 3).answer(outcome)
        require(text.last == newline && !text.dropLast().contains(newline), "response: an answer is a line")
        guard let json = (try? JSONDocument(parsing: Bytes(text.dropLast())))?.root, json.kind == .object else {
            fail("response: an answer is a JSON object")
        }
        require(
            json["to"]?.string == "phone1" && json["id"]?.string == "a"
                && json["user"]?.minified() == Bytes("[1]".utf8),
            "response: an answer keeps the line's members")
        if let answer { require(json["status"]?.integer == Int64(answer.status), "response: an answer has the status") }
        if case .accepted = outcome {
            require(json["error"] == nil, "response: an accepted message has no error")
            return
        }
        require(
            json["error"]?["code"]?.string.flatMap(SendCode.init(rawValue:)) != nil && json["retry"]?.bool != nil,
            "response: an error has a code")
        require(json["reason"]?.string == answer?.reason, "response: an error has the reason")
        let again = Bytes(text.dropLast(2)) + Bytes(#","payload":{"aps":{},"ENCRYPTED_DATA":"a"}}"#.utf8)
        guard case .message = SendLine(again, number: 1).content else {
            fail("response: an error with its payload can be sent again")
        }
    }

    // MARK: A connection

    private func checkConnection(_ choices: inout Choices) {
        let piece = choices.number(below: 20) + 1
        let bytes = choices.rest()
        require(play(bytes, piece: piece) == play(bytes, piece: .max), "response: pieces make no difference")
    }

    /// Returns the outcomes of the three requests.
    private func play(_ bytes: Bytes, piece: Int) -> [[String]] {
        var fates = [[String]](repeating: [], count: 3)
        guard let session = try? HTTP2Session(Destination(host: "localhost")) else {
            fail("response: there is a session")
        }
        session.read(Bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        for number in 0..<3 {
            let message = Message(number: number, push: PushToSend(deviceToken: "0a"), end: .max)
            session.queue(Sent([message], token: 0, at: 0), Request(path: "/3/device/0a", body: Bytes("{}".utf8)))
        }
        session.write()
        var start = 0
        while start < bytes.count {
            let end = piece < bytes.count - start ? start + piece : bytes.count
            guard session.read(Bytes(bytes[start..<end])) else { break }
            start = end
        }
        session.write()
        session.failAll()
        for event in session.takeEvents() {
            switch event {
            case .answered(let sent, let response): fates[sent.number].append("\(response)")
            case .failed(let sent, let wasRead): fates[sent.number].append("no answer, read: \(wasRead)")
            case .streams, .goingAway: break
            }
        }
        require(fates.allSatisfy { $0.count == 1 }, "response: every request ends once")
        return fates
    }
}

extension HTTP2Session {
    /// Returns false if the peer breaks the protocol.
    @discardableResult
    fileprivate func read(_ bytes: Bytes) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in (try? unsafe read(bytes)) != nil }
    }

    fileprivate func queue(_ sent: Sent, _ request: Request) {
        guard (try? send(sent, request)) != nil else { fail("response: a request is queued") }
    }

    fileprivate func write() {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { unsafe room.deallocate() }
        while let count = try? unsafe write(into: room), count > 0 {}
    }
}

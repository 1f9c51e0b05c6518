import Pushcrypt
import PushcryptCommand
import PushcryptCommandKit
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@testable import PushcryptSend
@testable import Simulated

private func bytes(_ text: String) -> ContiguousArray<UInt8> { ContiguousArray(text.utf8) }
private func text(_ bytes: ContiguousArray<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

@Suite struct LineTests {
    private static let request =
        #"{"to":"phone1","id":"a","topic":"com.example.app","push_type":"alert","priority":5,"expiration":7,"collapse_id":"c","payload":{"aps": {},"ENCRYPTED_DATA":"A"},"token":"0a1B","user":[1, 2]}"#

    private static func message(_ line: String) throws -> PushToSend {
        guard case .message(let message, _) = SendLine(bytes(line), number: 1).content else {
            throw Failure(.malformedLine, "refused")
        }
        return message
    }

    @Test func aLineBecomesHeaders() throws {
        let message = try Self.message(Self.request)
        #expect(message.deviceToken == "0a1B")
        #expect(message.expiration == 7)
        #expect(text(message.payload) == #"{"aps":{},"ENCRYPTED_DATA":"A"}"#)
        #expect(
            message.headers.map { "\($0.name): \($0.value)" } == [
                "apns-topic: com.example.app", "apns-push-type: alert", "apns-priority: 5", "apns-expiration: 7",
                "apns-collapse-id: c",
            ])
    }

    @Test(arguments: [
        #""token":"0g""#, #""token":"""#, #""token":7"#, #""token":"0a/../1""#, #""topic":"a\r\nb: c""#,
        #""topic":"a\nb""#,
        #""topic":" a""#, #""topic":"""#, #""collapse_id":"\u0000""#, #""priority":7"#, #""priority":"10""#,
        #""expiration":-1"#, #""expiration":1.5"#, #""push_type":"a\u007f""#, #""payload":[]"#,
        #""environment":"test""#, #""environment":"sandbox""#, #""unencrypted":1"#,
    ])
    func aWrongMemberIsRefused(_ member: String) {
        let name = member.prefix { $0 != ":" }
        let others = [
            #""token":"0a""#, #""topic":"a""#, #""payload":{"ENCRYPTED_DATA":"A"}"#,
        ].filter { !$0.hasPrefix(name) }
        let line = "{" + (others + [member]).joined(separator: ",") + "}"
        guard case .refused(let failure) = SendLine(bytes(line), number: 1).content else {
            Issue.record("\(line) is sent")
            return
        }
        #expect(failure.code == "malformed-line")
    }

    /// Other programs' forms of a number, and of an absent member.
    @Test func nullCountsAsMissingAndAWholeNumberAsOne() throws {
        let message = try Self.message(
            #"{"token":"0a","topic":"a","priority":10.0,"expiration":7e0,"collapse_id":null,"push_type":null,"unencrypted":null,"environment":null,"payload":{"ENCRYPTED_DATA":"A"}}"#
        )
        #expect(message.headers.map(\.0) == ["apns-topic", "apns-push-type", "apns-priority", "apns-expiration"])
        #expect(message.headers.map(\.1) == ["a", "alert", "10", "7"])
        let clear = SendLine(bytes(#"{"token":"0a","topic":"a","unencrypted":null,"payload":{"aps":{}}}"#), number: 1)
        guard case .refused(let failure) = clear.content else {
            Issue.record("it is sent")
            return
        }
        #expect(failure.code == "not-sealed")
    }

    @Test func anExpirationOfZeroIsSent() throws {
        let message = try Self.message(#"{"token":"0a","topic":"a","expiration":0,"payload":{"ENCRYPTED_DATA":"A"}}"#)
        #expect(message.headers.contains { $0 == ("apns-expiration", "0") })
    }

    @Test(arguments: [("alert", 4096), ("voip", 5120)])
    func whatAPNsWouldRefuseIsNotSent(_ type: String, _ longest: Int) throws {
        func line(_ length: Int, _ more: String = "") -> String {
            let payload = #"{"ENCRYPTED_DATA":"\#(String(repeating: "x", count: length - 21))"}"#
            return #"{"token":"0a","topic":"a","push_type":"\#(type)","payload":\#(payload)\#(more)}"#
        }
        #expect(try Self.message(line(longest)).payload.count == longest)
        let id = String(repeating: "c", count: 65)
        for line in [line(longest + 1), line(30, #","collapse_id":"\#(id)""#)] {
            guard case .refused(let failure) = SendLine(bytes(line), number: 1).content else {
                Issue.record("\(line) is sent")
                continue
            }
            #expect(failure.code == "request-refused")
        }
    }

    @Test func anAnswerKeepsTheOtherMembers() {
        let line = SendLine(bytes(Self.request), number: 3)
        #expect(
            text(line.answer(.accepted(PushAnswer(status: 200, apnsID: "i"))))
                == #"{"to":"phone1","id":"a","status":200,"apns_id":"i","token":"0a1B","user":[1,2]}"# + "\n")
        let gone = PushAnswer(status: 410, reason: "Unregistered", timestamp: 9)
        #expect(
            text(line.answer(.refused(gone)))
                == #"{"error":{"code":"unregistered","message":"the token is no longer valid: remove the device"},"line":3,"status":410,"reason":"Unregistered","timestamp":9,"retry":false,"to":"phone1","id":"a","topic":"com.example.app","push_type":"alert","priority":5,"expiration":7,"collapse_id":"c","token":"0a1B","user":[1,2]}"#
                + "\n")
    }

    @Test func anErrorWithItsPayloadIsSentAgain() throws {
        let line = SendLine(bytes(Self.request), number: 3)
        let error =
            text(line.answer(.gaveUp(PushAnswer(status: 503)))).dropLast(2) + #","payload":{"ENCRYPTED_DATA":"A"}}"#
        #expect(try Self.message(String(error)).headers.count == 5)
        #expect(
            text(SendLine(bytes(String(error)), number: 1).answer(.accepted(PushAnswer(status: 200)))).hasSuffix(
                #""id":"a","status":200,"token":"0a1B","user":[1,2]}"# + "\n"))
    }

    @Test func aLineThatWasNotSealedIsPassedOn() {
        let line = #"{"error":{"code":"no-key","message":"m"},"line":2,"to":null}"#
        guard case .passedOn = SendLine(bytes(line), number: 1).content else {
            Issue.record("it is not passed on")
            return
        }
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"HIV result"}}"#, nil, false), (#"{"aps":{},"ENCRYPTED_DATA":7}"#, nil, false),
        (#"{"aps":{"ENCRYPTED_DATA":"A"}}"#, nil, false), (#"{"aps":{},"ENCRYPTED_DATA":""}"#, nil, false),
        (#"{"aps":{}}"#, "false", false),
        (#"{"aps":{}}"#, "true", true), (#"{"ENCRYPTED_DATA":"A"}"#, "false", true),
        (#"{"ENCRYPTED_DATA":"A"}"#, "true", true),
    ])
    func onlyWhatIsSealedOrMeantToBeReadableIsSent(_ payload: String, _ word: String?, _ isSent: Bool) {
        let member = word.map { #","unencrypted":\#($0)"# } ?? ""
        let line = SendLine(bytes(#"{"token":"0a","topic":"a","payload":\#(payload)\#(member)}"#), number: 1)
        switch line.content {
        case .message: #expect(isSent)
        case .refused(let failure): #expect(!isSent && failure.code == "not-sealed")
        case .passedOn: Issue.record("it is passed on")
        }
    }

    @Test func anEnvironmentIsNamedAsInRecords() {
        for environment in PushEnvironment.allCases {
            let line = Self.request.dropLast() + #","environment":"\#(environment.rawValue)"}"#
            guard case .message(_, environment) = SendLine(bytes(String(line)), number: 1).content else {
                Issue.record("\(line)")
                continue
            }
        }
    }

    @Test func namesOfTheAnswerAreReserved() {
        let line = Self.request.dropLast() + #","status":1}"#
        guard case .refused(let failure) = SendLine(bytes(String(line)), number: 1).content else {
            Issue.record("it is sent")
            return
        }
        #expect(failure.code == "reserved-key")
    }
}

@Suite struct AnswerTests {
    private static func answer(_ body: String, retryAfter: String? = nil, id: String? = nil) -> PushAnswer {
        PushAnswer(Response(status: 400, apnsID: id, retryAfter: retryAfter, body: bytes(body)))
    }

    @Test func reasonAndTimeAreRead() {
        let answer = Self.answer(#"{"reason":"Unregistered","timestamp":1700000000000}"#, retryAfter: "30", id: "a-b")
        #expect(answer.reason == "Unregistered")
        #expect(answer.timestamp == 1_700_000_000_000)
        #expect(answer.retryAfter == 30_000)
        #expect(answer.apnsID == "a-b")
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"reason":7}"#, #"{"reason":""}"#, #"{"reason":"a b"}"#, #"{"reason":"a\n"}"#,
        #"{"reason":"é"}"#, #"{"reason":"\#(String(repeating: "a", count: 101))"}"#, #"{"timestamp":"7"}"#,
    ])
    func anythingElseIsIgnored(_ body: String) {
        #expect(Self.answer(body) == PushAnswer(status: 400))
    }

    @Test(arguments: ["-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999", " 1", ""])
    func aTimeThatIsNoNumberOfSecondsIsIgnored(_ text: String) {
        #expect(Self.answer("", retryAfter: text).retryAfter == nil)
    }
}

@Suite struct CountTests {
    @Test func whateverAPNsSaysThereAreFewCounters() {
        var counts = SendCounts()
        for number in 0..<100 {
            counts.count(PushAnswer(status: 429, reason: "TooManyRequests").kind)
            counts.count(PushAnswer(status: 400 + number, reason: "a").kind)
        }
        #expect(counts.answers.count == 51 && counts.answers["429 TooManyRequests"] == 100)
        #expect(counts.answers["other"] == 51)
    }
}

@Suite struct InputLinesTests {
    @Test func theBeginningOfALineCountsOnce() throws {
        var ends: [Int32] = [0, 0]
        let isMade = unsafe pipe(&ends) == 0
        try #require(isMade)
        defer { for end in ends { close(end) } }
        let text = bytes("{}\n{\"a\":")
        let count = unsafe text.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, $0.count) }
        try #require(count == text.count)
        var lines = InputLines(Descriptor(number: ends[0]), name: "a pipe")
        try lines.read()
        #expect(lines.next() != nil && lines.next() == nil && !lines.isEmpty)
        let drops = [lines.dropBeginning(), lines.dropBeginning()]
        #expect(drops == [true, false])
        #expect(lines.isEmpty && lines.number == 2)
    }

    @Test func aLineWithoutItsEndIsNotTakenAfterAnError() throws {
        var ends: [Int32] = [0, 0]
        let isMade = unsafe pipe(&ends) == 0
        try #require(isMade)
        defer { close(ends[0]) }
        let text = bytes("{}\n{\"a\":")
        let count = unsafe text.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, $0.count) }
        try #require(count == text.count)
        close(ends[1])
        var lines = InputLines(Descriptor(number: ends[0]), name: "a pipe")
        try lines.read()
        let folder = unsafe open("/", O_RDONLY)
        try #require(folder >= 0 && dup2(folder, ends[0]) >= 0)
        close(folder)
        #expect(throws: Failure.self) { try lines.read() }
        guard case .some(.some(let line)) = lines.next() else {
            Issue.record("the line before is lost")
            return
        }
        #expect(text.starts(with: line) && line.count == 2)
        #expect(lines.next() == nil && lines.isAtEnd)
    }
}

@Suite struct DestinationTests {
    @Test(arguments: [
        ("localhost", "localhost", 443), ("localhost:8443", "localhost", 8443), ("[::1]:5", "[::1]", 5),
        ("[::1]", "[::1]", 443),
    ])
    func aHostMayHaveAPort(_ text: String, _ host: String, _ port: Int) throws {
        var destination = Destination(host: "")
        try destination.take(text)
        #expect(destination.host == host)
        #expect(destination.port == port)
    }

    @Test(arguments: ["", ":443", "a:", "a:0", "a:65536", "a:b", "a/b", "a@b", "a b:1", "a\n"])
    func othersAreRefused(_ text: String) {
        var destination = Destination(host: "")
        #expect(throws: Failure.self) { try destination.take(text) }
    }

    @Test func theKeysIDIsInItsName() {
        #expect(SendLogin.keyID(ofFile: "keys/AuthKey_ABC123DEFG.p8") == "ABC123DEFG")
        #expect(SendLogin.keyID(ofFile: "fd:3") == nil)
    }
}

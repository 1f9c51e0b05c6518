import Pushcrypt
import PushcryptCommand
import PushcryptCommandKit
import Testing

@testable import PushcryptSend
@testable import Simulated

/// A relay's answers, as they come over the network. (`Docs/Relay.md`, Answers)
@Suite struct RelayAnswerTests {
    private func read(
        _ status: Int, _ body: String, messages: Int = 1, retryAfter: String? = nil, time: UInt64? = nil
    ) throws -> [PushAnswer] {
        let origin = try #require(RelayOrigin("https://push.example.com"))
        let route = RelayRoute(Destination(host: "push.example.com"), origin) { [] }
        let sent = (1...messages).map { Message(number: $0, push: PushToSend(deviceToken: "grant"), end: .max) }
        return route.answers(
            Response(status: status, retryAfter: retryAfter, time: time, body: .init(body.utf8)),
            to: Sent(sent, token: 0, at: 0))
    }

    @Test func answersAreReadInOrder() throws {
        var ok = PushAnswer(status: 200, apnsID: "A-1")
        ok.grantExpires = 5
        let body = #"""
            {"answers":[{"status":200,"from":"apns","apns_id":"A-1","grant_expires":5},
            {"status":410,"reason":"Unregistered","from":"apns","sent":"no","timestamp":7},
            {"status":429,"code":"grant-limit","from":"relay","sent":"no","retry_after":9},
            {"status":504,"code":"no-answer","from":"relay","sent":"unknown"}]}
            """#
        let answers = try read(200, body, messages: 4)
        #expect(answers[0] == ok && answers[1] == PushAnswer(status: 410, reason: "Unregistered", timestamp: 7))
        #expect(answers[2] == relays(429, "grant-limit", retryAfter: 9000))
        #expect(answers[3].scope == .unknown && answers[3].text == "504 no-answer")
    }

    /// `device remove --from-apns-410` needs a time; a relay's own 410 ends no device.
    @Test func anEndWithoutATimeHasThatOfTheAnswer() throws {
        let body = #"""
            {"answers":[{"status":410,"reason":"Unregistered","from":"apns","sent":"no"},
            {"status":410,"code":"grant-revoked","from":"relay","sent":"no"}]}
            """#
        #expect(try read(200, body, messages: 2, time: 99).map(\.timestamp) == [99, nil])
    }

    @Test(arguments: [
        "", "x", "{}", "[]", #"{"answers":{}}"#, #"{"answers":[]}"#, #"{"answers":[{},{}]}"#,
    ])
    func aMissingAnswerIsUnknown(_ body: String) throws {
        #expect(try read(200, body).map(\.scope) == [.unknown])
    }

    @Test(arguments: [
        "{}", #"{"status":"200","from":"apns"}"#, #"{"status":200}"#, #"{"status":200,"from":"relay","sent":"no"}"#,
        #"{"status":400,"from":"apns"}"#, #"{"status":503,"from":"relay","sent":"unknown"}"#, "null", "1",
        #"{"from":"apns","sent":"no"}"#, #"{"status":-1,"from":"apns","sent":"no"}"#,
    ])
    func whatIsNoAnswerIsUnknown(_ answer: String) throws {
        #expect(try read(200, #"{"answers":[\#(answer)]}"#).map(\.scope) == [.unknown])
    }

    @Test func aRefusalOfTheRequestIsRead() throws {
        let busy = try read(429, #"{"code":"too-many-requests"}"#, messages: 2, retryAfter: "12")
        #expect(busy.count == 2 && busy[0].isWhole && busy[0].retryAfter == 12_000 && busy[0].scope == .device)
        #expect(try read(401, #"{"code":"bad-signature"}"#)[0].scope == .login)
        #expect(try read(401, #"{"code":"clock","now":1767225600000}"#)[0].time == 1_767_225_600_000)
        #expect(try read(401, #"{"code":"clock","now":-1}"#)[0].time == nil)
    }

    @Test(arguments: [(301, false), (302, false), (404, false), (403, false), (502, true), (503, true), (504, true)])
    func anotherServersAnswerIsNotTheRelays(_ status: Int, _ isUnknown: Bool) throws {
        #expect(try read(status, "<html>").map(\.scope) == [isUnknown ? .unknown : .strange])
    }
}

/// A route whose requests have up to 45 messages, with the relay in the hands of a test.
@Suite struct RelayRouteTests {
    private func world() -> World {
        let world = World(usesToken: false) {
            ($0.mostMessages, $0.mostStreams, $0.mostBytes) = (45, 1, 500_000)
            $0.peer = "the relay"
        }
        return world
    }

    private func add(_ world: World, _ count: Int, bytes: Int = 100) {
        for index in 0..<count { world.add(token: "grant\(index)", topic: "", bytes: bytes) }
        world.settle()
    }

    /// The grant of a phone that has sent no record since the push key was replaced.
    @Test func aGrantForAnotherKeyIsSignedByItOnceAndInOrder() {
        let world = world()
        add(world, 2)
        // It waits for the answer, and then for a request of its own.
        add(world, 1)
        world.answer(relays(403, "wrong-key"))
        #expect(world.sent.map { $0.request.messages.map(\.usesOtherKey) } == [[true, true]])
        #expect(world.numbers == [1, 2])
        world.answer(relays(403, "wrong-key"))
        #expect(world.outcomes == Array(repeating: .refused(relays(403, "wrong-key")), count: 2))
        #expect(world.sent.map { $0.request.messages.map(\.usesOtherKey) } == [[false]])
    }

    /// A process that was started before a key was replaced has it too.
    @Test func theKeysAreThoseOfNow() throws {
        let origin = try #require(RelayOrigin("https://push.example.com"))
        let (first, second) = (PushKey(), PushKey())
        var keys = [first]
        let route = RelayRoute(Destination(host: "push.example.com"), origin) { keys }
        func signer(usesOther: Bool) throws -> String? {
            let message = Message(number: 1, push: PushToSend(deviceToken: "grant"), end: .max)
            message.usesOtherKey = usesOther
            return try route.request(Sent([message], token: 0, at: 0), at: 0).headers.first { $0.0 == "pushcrypt-key" }?
                .1
        }
        #expect(try signer(usesOther: true) == first.publicKey.text)
        keys = [second, first]
        #expect(try signer(usesOther: false) == second.publicKey.text)
        #expect(try signer(usesOther: true) == first.publicKey.text)
    }

    private func whole(_ status: Int, _ code: String, retryAfter: UInt64? = nil, time: UInt64? = nil) -> PushAnswer {
        var answer = relays(status, code, retryAfter: retryAfter)
        (answer.isWhole, answer.time) = (true, time)
        return answer
    }

    private func sizes(_ world: World) -> [Int] { world.sent.map(\.request.messages.count) }

    @Test func aRequestIsFullOrNothingIsUnderWay() {
        let world = world()
        add(world, 50)
        #expect(sizes(world) == [45], "five wait for its answer")
        world.answer(accepted)
        #expect(sizes(world) == [5])
        world.answer(accepted)
        #expect(world.outcomes.count == 50)
    }

    @Test func aBodyHasAtMostHalfAMegabyte() {
        let world = world()
        add(world, 20, bytes: 60_000)
        #expect(sizes(world) == [8, 8], "the rest waits")
    }

    @Test func aRelayThatIsFullIsLeftAloneForAsLongAsItSays() {
        let world = world()
        add(world, 1)
        world.answer(whole(429, "too-many-requests", retryAfter: 20_000))
        #expect(world.dispatcher.troubles.map(\.kind) == [.busy])
        world.pass(19_999)
        #expect(world.sent.isEmpty)
        world.pass(1)
        world.answer(accepted)
        #expect(world.outcomes == [.accepted(accepted)] && world.dispatcher.troubles.isEmpty)
    }

    @Test func messagesThatWaitForTheRelayNeedNoConnection() {
        let world = world()
        add(world, 1)
        world.answer(whole(429, "too-many-requests", retryAfter: 20_000))
        add(world, 50)
        world.pass(1000)
        #expect(world.sent.isEmpty && world.opened == [1])
    }

    @Test(arguments: ["grant-expired", "grant-revoked", "grant-unknown-key"])
    func anEndedGrantIsNotTriedAgain(_ code: String) {
        let world = world()
        add(world, 1)
        world.answer(relays(410, code))
        let failure = world.outcomes.first.flatMap(SendFailure.init)
        #expect(failure?.code == .unregistered && failure?.mayRetry == false)
    }

    @Test(arguments: [
        (relays(403, "wrong-key"), SendCode.wrongAddress, false),
        (relays(400, "kind-not-granted"), .requestRefused, false),
        (relays(400, "malformed-grant"), .requestRefused, false),
        (PushAnswer(status: 410, reason: "Unregistered", timestamp: 1), .unregistered, false),
        (PushAnswer(status: 400, reason: "BadDeviceToken"), .wrongAddress, false),
    ])
    func eachRefusalHasItsCode(_ answer: PushAnswer, _ code: SendCode, _ mayRetry: Bool) {
        let world = world()
        add(world, 1)
        world.answer(answer)
        // Another push key is tried once.
        if answer.isOtherKey { world.answer(answer) }
        let failure = world.outcomes.first.flatMap(SendFailure.init)
        #expect(failure?.code == code && failure?.mayRetry == mayRetry)
    }

    /// Requests that were signed before a correction say nothing of it.
    @Test func aWrongClockIsCorrected() {
        let world = world()
        add(world, 200)
        let right = world.now.wall - 7_200_000
        while world.dispatcher.clock.offset == 0 { world.answer(whole(401, "clock", time: right)) }
        #expect(world.dispatcher.clock.time(world.now) == right && world.outcomes.isEmpty)
        while !world.sent.isEmpty { world.answer(accepted) }
        #expect(world.outcomes.count == 200)
    }

    /// A wrong origin, or a clock on which both never agree: nothing that waits is lost, and one request at a time goes on asking.
    @Test(arguments: ["bad-signature", "clock"]) func aRefusedSignatureIsALogin(_ code: String) {
        let world = world()
        for _ in 0..<50 { world.add(topic: "", retryFor: 30_000) }
        world.settle()
        world.answer(whole(401, code))
        #expect(world.dispatcher.troubles.map(\.kind) == [.login])
        #expect(world.outcomes.isEmpty && world.sent.isEmpty)
        world.pass(1000)
        #expect(sizes(world) == [1])
        world.answer(whole(401, code))
        world.pass(30_000)
        #expect(world.outcomes.count == 50)
        #expect(world.outcomes.compactMap { SendFailure($0)?.mayRetry }.allSatisfy { $0 })
    }

    @Test(arguments: [(400, "malformed-request"), (413, "too-large")])
    func aRequestThatIsRefusedIsMadeSmaller(_ status: Int, _ code: String) {
        let world = world()
        add(world, 8)
        world.answer(whole(status, code))
        #expect(sizes(world) == [4, 4])
        add(world, 40)
        while !world.sent.isEmpty { world.answer(accepted) }
        #expect(world.dispatcher.batchSize > 8, "they grow again")
        add(world, 1)
        world.answer(whole(status, code))
        #expect(world.outcomes.last == .refused(whole(status, code)))
    }

    /// A message that may have rung is not answered with a no.
    @Test func whatAnEarlierRequestMayHaveBroughtStaysUnknown() {
        let world = world()
        add(world, 1)
        world.fail(wasRead: true)
        world.pass(5000)
        let refusal = whole(404, "not-found")
        world.answer(refusal)
        #expect(world.outcomes == [.unknown(refusal)])
    }

    @Test func whatIsNoRelayIsGivenUpAfterSomeTime() {
        var foreign = PushAnswer(status: 301)
        (foreign.isRelays, foreign.isForeign) = (true, true)
        let world = world()
        add(world, 1)
        for _ in 0..<6 {
            world.answer(foreign)
            world.pass(60_000)
        }
        let failure = world.outcomes.first.flatMap(SendFailure.init)
        #expect(failure?.code == .requestRefused && failure?.mayRetry == true)
    }

    /// A proxy without its relay: nobody knows, and it is said.
    @Test func unknownAnswersAreAnOutage() {
        var unknown = PushAnswer(status: 502)
        (unknown.isRelays, unknown.isUnknown) = (true, true)
        let world = world()
        add(world, 45)
        world.answer(unknown)
        #expect(world.dispatcher.troubles.map(\.kind) == [.busy])
        world.pass(60_000)
        while !world.sent.isEmpty {
            world.answer(accepted)
            world.pass(1000)
        }
        #expect(world.outcomes.count == 45 && world.dispatcher.troubles.isEmpty)
    }
}

private func relays(_ status: Int, _ code: String, retryAfter: UInt64? = nil) -> PushAnswer {
    var answer = PushAnswer(status: status, reason: code, retryAfter: retryAfter)
    answer.isRelays = true
    return answer
}

/// Lines that `seal --emit relay` writes.
@Suite struct RelayLineTests {
    private func line(_ text: String) -> SendLine { SendLine(.init(text.utf8), number: 3, forRelay: true) }

    private func code(_ text: String) -> String? {
        guard case .refused(let failure) = line(text).content else { return nil }
        return failure.code
    }

    private let good =
        #"{"to":"phone1","id":"m1","kind":"alert","priority":10,"expiration":1800000000,"collapse_id":"c","sound":"default","data":"A","grant":"G","mine":1}"#

    @Test func theRelayGetsItsMembersAlone() throws {
        guard case .message(let push, nil) = line(good).content else {
            Issue.record("not a message")
            return
        }
        #expect(
            String(decoding: push.payload, as: UTF8.self)
                == #"{"grant":"G","kind":"alert","priority":10,"expiration":1800000000,"collapse_id":"c","sound":"default","data":"A"}"#
        )
        #expect(push.deviceToken == "G" && push.expiration == 1_800_000_000)
    }

    /// A relay takes no null.
    @Test func nullIsNotSent() throws {
        guard case .message(let push, nil) = line(good.replacing(#""default""#, with: "null")).content else {
            Issue.record("not a message")
            return
        }
        #expect(
            String(decoding: push.payload, as: UTF8.self)
                == #"{"grant":"G","kind":"alert","priority":10,"expiration":1800000000,"collapse_id":"c","data":"A"}"#)
    }

    @Test func nearMissesArePassedOn() {
        #expect(code(good.replacing("mine", with: "grants")) == nil)
    }

    /// One line must not have the relay refuse those beside it.
    @Test(arguments: ["[[[[1]]]]", "{}"]) func membersAreFlat(_ value: String) {
        #expect(code(good.replacing(#""default""#, with: value)) == "malformed-line")
    }

    @Test func anAnswerHasTheGrantAndWhatIsPassedOn() {
        var ok = PushAnswer(status: 200, apnsID: "A-1")
        ok.grantExpires = 5
        #expect(
            String(decoding: line(good).answer(.accepted(ok)), as: UTF8.self)
                == #"{"to":"phone1","id":"m1","status":200,"apns_id":"A-1","grant_expires":5,"grant":"G","mine":1}"#
                + "\n")
        let gone = relays(410, "grant-revoked")
        let text = String(decoding: line(good).answer(.refused(gone)), as: UTF8.self)
        #expect(text.contains(#""code":"unregistered""#) && text.contains(#""status":410,"reason":"grant-revoked""#))
        #expect(text.contains(#""retry":false,"to":"phone1""#) && text.contains(#""grant":"G""#))
        #expect(!text.contains("\"data\""))
    }

    @Test func whatCannotBeSentIsRefused() {
        #expect(code(good.replacing(#""data":"A","#, with: "")) == "not-sealed")
        #expect(code(good.replacing(#","grant":"G""#, with: "")) == "malformed-line")
        #expect(code(good.replacing(#""data":"A""#, with: #""data":1"#)) == "malformed-line")
        #expect(code(good.replacing("1800000000", with: "-1")) == "malformed-line")
        #expect(code(good.replacing("mine", with: "status")) == "reserved-key")
        #expect(code("[]") == "malformed-line")
    }

    @Test func aLineOfAnEarlierRefusalIsPassedOn() {
        guard case .passedOn = line(#"{"error":{"code":"x","message":"y"},"line":1,"to":"phone1"}"#).content else {
            Issue.record("not passed on")
            return
        }
    }
}

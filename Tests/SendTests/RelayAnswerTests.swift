import Pushcrypt
import PushcryptCommand
import Testing

@testable import PushcryptSend

/// What a relay answers, as it comes over the network. (`Docs/Relay.md`, Answers)
@Suite struct RelayAnswerTests {
    private func read(_ status: Int, _ body: String, messages: Int = 1, retryAfter: String? = nil) -> RelayResponse {
        RelayResponse(status: status, retryAfter: retryAfter, body: .init(body.utf8), messages: messages)
    }

    @Test func answersAreReadInOrder() {
        var ok = APNsAnswer(status: 200, apnsID: "A-1")
        ok.grantExpires = 5
        let body = #"""
            {"answers":[{"status":200,"from":"apns","apns_id":"A-1","grant_expires":5},
            {"status":410,"reason":"Unregistered","from":"apns","sent":"no","timestamp":7},
            {"status":429,"code":"grant-limit","from":"relay","sent":"no","retry_after":9},
            {"status":504,"code":"no-answer","from":"relay","sent":"unknown"}]}
            """#
        #expect(
            read(200, body, messages: 4)
                == .answers([
                    .apns(ok), .apns(APNsAnswer(status: 410, reason: "Unregistered", timestamp: 7)),
                    .apns(APNsAnswer(status: 429, reason: "grant-limit", retryAfter: 9000).ofRelay), .unknown,
                ]))
    }

    @Test(arguments: [
        "", "x", "{}", "[]", #"{"answers":{}}"#, #"{"answers":[]}"#, #"{"answers":[{},{}]}"#,
    ])
    func aMissingAnswerIsUnknown(_ body: String) { #expect(read(200, body) == .unknown) }

    @Test(arguments: [
        "{}", #"{"status":"200","from":"apns"}"#, #"{"status":200}"#, #"{"status":200,"from":"relay","sent":"no"}"#,
        #"{"status":400,"from":"apns"}"#, #"{"status":503,"from":"relay","sent":"unknown"}"#, "null", "1",
    ])
    func whatIsNoAnswerIsUnknown(_ answer: String) {
        #expect(read(200, #"{"answers":[\#(answer)]}"#) == .answers([.unknown]))
    }

    @Test func aRefusalOfTheRequestIsRead() {
        #expect(
            read(429, #"{"code":"too-many-requests"}"#, retryAfter: "12")
                == .refused(APNsAnswer(status: 429, reason: "too-many-requests", retryAfter: 12_000).ofRelay))
        #expect(
            read(401, #"{"code":"bad-signature"}"#)
                == .refused(APNsAnswer(status: 401, reason: "bad-signature").ofRelay))
        #expect(read(401, #"{"code":"clock","now":1767225600000}"#) == .clock(now: 1_767_225_600_000))
        #expect(read(401, #"{"code":"clock","now":-1}"#) == .refused(APNsAnswer(status: 401, reason: "clock").ofRelay))
    }

    @Test(arguments: [(301, false), (302, false), (404, false), (403, false), (502, true), (503, true), (504, true)])
    func anotherServersAnswerIsNotTheRelays(_ status: Int, _ isUnknown: Bool) {
        let response = read(status, "<html>")
        #expect(response == (isUnknown ? .unknown : .strange(APNsAnswer(status: status).ofRelay)))
    }

    @Test func whatTheRelayIsIsRead() {
        func facts(_ body: String, _ status: Int = 200) -> RelayFacts? {
            RelayFacts(status: status, body: .init(body.utf8))
        }
        let good = #"{"version":1,"origin":"https://push.example.com","now":1,"max_messages":45,"kinds":["alert"]}"#
        #expect(facts(good)?.origin == "https://push.example.com" && facts(good)?.mostMessages == 45)
        #expect(facts(good.replacing("45", with: "1000"))?.mostMessages == 45)
        #expect(facts(good.replacing("45", with: "3"))?.mostMessages == 3)
        for bad in ["", "{}", good.replacing("1,", with: "2,"), good.replacing("45", with: "0")] {
            #expect(facts(bad) == nil)
        }
        #expect(facts(good, 404) == nil)
    }
}

/// Lines that `seal --emit relay` writes.
@Suite struct RelayLineTests {
    private func line(_ text: String) -> SendLine { SendLine(.init(text.utf8), number: 3, .relay) }

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
        var ok = APNsAnswer(status: 200, apnsID: "A-1")
        ok.grantExpires = 5
        #expect(
            String(decoding: line(good).answer(.accepted(ok)), as: UTF8.self)
                == #"{"to":"phone1","id":"m1","status":200,"apns_id":"A-1","grant_expires":5,"grant":"G","mine":1}"#
                + "\n")
        let gone = APNsAnswer(status: 410, reason: "grant-revoked").ofRelay
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

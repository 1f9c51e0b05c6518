import Testing

@testable import Pushcrypt

/// The rules for a payload before anybody seals it, and for one that is sent as it is.
@Suite struct PayloadCheckTests {
    private static let budget = PushType.alert.maximumPayloadLength

    private static func refusal(_ check: () throws(SealError) -> Void) -> SealError.Code? {
        do throws(SealError) { try check() } catch { return error.code }
        return nil
    }

    @Test func whatFitsOrCanBeMadeToFitIsSealable() throws {
        try PayloadCheck.refuseUnsealable(Bytes(alertPayload(count: Self.budget).utf8), for: .alert)
        // White space between tokens does not count.
        try PayloadCheck.refuseUnsealable(Bytes((alertPayload(count: Self.budget) + "   ").utf8), for: .alert)
        try PayloadCheck.refuseUnsealable(
            Bytes(alertPayload(count: Self.budget + 1).utf8), for: .alert, fitting: [.body])
    }

    @Test func whatDoesNotFitIsRefusedBeforeItIsSealed() {
        let long = Bytes(alertPayload(count: Self.budget + 1).utf8)
        #expect(
            Self.refusal { () throws(SealError) in try PayloadCheck.refuseUnsealable(long, for: .alert) }
                == .payloadTooLarge)
        #expect(
            Self.refusal { () throws(SealError) in
                try PayloadCheck.refuseUnsealable(long, for: .alert, fitting: [.title])
            } == .payloadTooLarge)
        #expect(
            Self.refusal { () throws(SealError) in try PayloadCheck.refuseUnsealable([], for: .alert) }
                == .malformedPayload)
    }

    @Test func whatIsSentAsItIsLosesItsWhiteSpace() throws {
        let sent = try PayloadCheck.sendable(
            Bytes(#" { "aps" : { "alert" : "a b" } } "#.utf8), for: .alert, isSentExactly: true)
        #expect(sent == Bytes(#"{"aps":{"alert":"a b"}}"#.utf8))
    }

    /// A provider that writes JSON again may use six bytes instead of two.
    @Test func lengthIsThatOfTheWidestFormUnlessTheBytesAreSentAsTheyAre() throws {
        let accents = Bytes(alertPayload(String(repeating: "é", count: 1000)).utf8)
        #expect(try PayloadCheck.sendable(accents, for: .alert, isSentExactly: true) == accents)
        #expect(
            Self.refusal { () throws(SealError) in
                _ = try PayloadCheck.sendable(accents, for: .alert, isSentExactly: false)
            } == .pushTooLarge)
        let limit = PushType.alert.maximumPushLength
        for (count, code) in [(limit, nil), (limit + 1, .pushTooLarge)] as [(Int, SealError.Code?)] {
            let payload = Bytes(alertPayload(count: count).utf8)
            #expect(
                Self.refusal { () throws(SealError) in
                    _ = try PayloadCheck.sendable(payload, for: .alert, isSentExactly: true)
                } == code)
        }
    }
}

import Testing

@testable import Pushcrypt

/// The rules for a payload before anybody seals it, and for one that is sent as it is.
@Suite struct PayloadCheckTests {
    private static let budget = PushType.alert.maximumPayloadLength

    private static func refusal(_ check: () throws(SealError) -> Void) -> SealError.Code? {
        do throws(SealError) { try check() } catch { return error.code }
        return nil
    }

    private static func message(_ payload: String, fitting texts: [AlertText] = []) -> Sealer.Message {
        var message = Sealer.Message(payload.utf8)
        message.fitting = texts
        return message
    }

    @Test func whatFitsOrCanBeMadeToFitIsSealable() throws {
        try Self.message(alertPayload(count: Self.budget)).refuseUnsealable()
        // White space between tokens does not count.
        try Self.message(alertPayload(count: Self.budget) + "   ").refuseUnsealable()
        try Self.message(alertPayload(count: Self.budget + 1), fitting: [.body]).refuseUnsealable()
    }

    @Test func whatDoesNotFitIsRefusedBeforeItIsSealed() {
        let long = alertPayload(count: Self.budget + 1)
        for message in [Self.message(long), Self.message(long, fitting: [.title])] {
            #expect(Self.refusal { () throws(SealError) in try message.refuseUnsealable() } == .payloadTooLarge)
        }
        #expect(Self.refusal { () throws(SealError) in try Self.message("").refuseUnsealable() } == .malformedPayload)
    }

    @Test func whatIsSentAsItIsLosesItsWhiteSpace() throws {
        var message = Self.message(#" { "aps" : { "alert" : "a b" } } "#)
        message.isSentExactly = true
        #expect(try message.unsealed() == Bytes(#"{"aps":{"alert":"a b"}}"#.utf8))
    }

    /// APNs accepts payloads that no extension could show, and unknown ones.
    @Test(arguments: [
        #"{"aps":{"badge":0}}"#, #"{"aps":{"sound":"a"}}"#, #"{"aps":{"content-available":1}}"#, #"{"mdm":"x"}"#,
        #"{"aps":{"badge":"7"},"pushcrypt":1}"#,
    ])
    func whatIsSentAsItIsFollowsNoRuleOfSealing(_ payload: String) throws {
        #expect(try Self.message(payload).unsealed() == Bytes(payload.utf8))
    }

    @Test(
        arguments: [
            ("{}", .malformedPayload), ("[]", .malformedPayload), (#"{"ENCRYPTED_DATA":"A"}"#, .reservedKey),
        ] as [(String, SealError.Code)])
    func whatAPNsRefusesOrIsSealedIsNotSentAsItIs(_ payload: String, _ code: SealError.Code) {
        #expect(Self.refusal { () throws(SealError) in _ = try Self.message(payload).unsealed() } == code)
    }

    /// A provider that writes JSON again may use six bytes instead of two.
    @Test func lengthIsThatOfTheWidestFormUnlessTheBytesAreSentAsTheyAre() throws {
        var accents = Self.message(alertPayload(String(repeating: "é", count: 1000)))
        #expect(Self.refusal { () throws(SealError) in _ = try accents.unsealed() } == .pushTooLarge)
        accents.isSentExactly = true
        #expect(try accents.unsealed() == accents.payload)
        let limit = PushType.alert.maximumPushLength
        for (count, code) in [(limit, nil), (limit + 1, .pushTooLarge)] as [(Int, SealError.Code?)] {
            var message = Self.message(alertPayload(count: count))
            message.isSentExactly = true
            #expect(Self.refusal { () throws(SealError) in _ = try message.unsealed() } == code)
        }
    }
}

import Testing

@testable import Pushcrypt

/// The rules for a payload before anybody seals it, and for one that is sent as it is.
@Suite struct PayloadCheckTests {
    private static func refusal(_ check: () throws(SealError) -> Void) -> SealError.Code? {
        do throws(SealError) { try check() } catch { return error.code }
        return nil
    }

    private static func message(_ payload: String, fitting texts: [AlertText] = []) -> Sealer.Message {
        var message = Sealer.Message(payload.utf8)
        message.fitting = texts
        return message
    }

    @Test func whatIsSentAsItIsLosesItsWhiteSpace() throws {
        var message = Self.message(#" { "aps" : { "alert" : "a b" } } "#)
        message.isSentExactly = true
        #expect(try message.unsealed() == Bytes(#"{"aps":{"alert":"a b"}}"#.utf8))
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

import Testing

@testable import Pushcrypt

/// A payload that could not be opened or shown is refused before it is sealed. (`Docs/Format.md`, J-1 to J-7, S-8)
@Suite struct PayloadRuleTests {
    private static func refusal(of payload: Bytes, as type: PushType = .alert) -> SealError? {
        do throws(SealError) {
            _ = try CheckedPayload(payload, for: type)
            return nil
        } catch {
            return error
        }
    }

    private static func refusal(of payload: String, as type: PushType = .alert) -> SealError? {
        refusal(of: Bytes(payload.utf8), as: type)
    }

    @Test(arguments: ["[]", "[{\"aps\":{}}]", "\"aps\"", "1", "null", "true"])
    func whatIsNotAnObjectIsMalformed(_ payload: String) throws {
        let error = try #require(Self.refusal(of: payload))
        #expect(error.code == .malformedPayload)
        #expect(error.description.contains("not a JSON object"))
    }

    @Test(arguments: [
        "{}", #"{"aps":null}"#, #"{"aps":[]}"#, #"{"aps":"x"}"#, #"{"aps":1}"#, #"{"APS":{"alert":"x"}}"#,
        #"{"payload":{"aps":{"alert":"x"}}}"#, #"{"aps ":{"alert":"x"}}"#,
    ])
    func aPayloadWithoutAnAPSObjectIsRefused(_ payload: String) {
        for type in [PushType.alert, .background, .voip] {
            #expect(Self.refusal(of: payload, as: type)?.code == .missingAPS)
        }
    }

    /// Two sealers in a row would show ciphertext: the second one is told.
    @Test func aSealedPushIsNotSealedAgain() throws {
        let fixture = try FormatFixture()
        let sealed = try fixture.seal(alertPayload())
        #expect(Self.refusal(of: sealed.json)?.code == .reservedKey)
    }

    @Test(arguments: [
        ("", "byte 0"), (" \n", "byte 2"), (#"{"aps":{"alert":"x"}"#, "byte 20"),
        (#"{"aps":{"alert":"x"}} x"#, "byte 22"), (#"{"aps":{"alert":"x"},}"#, "byte 21"), (#"{'aps':{}}"#, "byte 1"),
        (#"{"aps":{"alert":"x"},"aps":{}}"#, "byte 21"),
        (#"{"aps":{"alert":"x","alert":"y"}}"#, "byte 20"), (#"{"aps":{"alert":"x"},"\u0061ps":1}"#, "byte 21"),
        (#"{"aps":{"alert":"\ud83d"}}"#, "byte 17"), ("\u{FEFF}" + #"{"aps":{"alert":"x"}}"#, "byte 0"),
        (#"{"aps":{"alert":"x"},"n":NaN}"#, "byte 25"),
        (#"{"aps":{"alert":"x"},"a":"# + String(repeating: "[", count: 32), "byte 56"),
    ])
    func whatIsNotTheJSONOfThisFormatIsMalformedAtItsByte(_ payload: String, _ place: String) throws {
        let error = try #require(Self.refusal(of: payload))
        #expect(error.code == .malformedPayload)
        #expect(error.description.contains(place + ")"))
    }

    /// A mebibyte is read, and refused for its content; more is not read.
    @Test(arguments: [(1 << 20, JSONError.Code.unexpectedEnd), ((1 << 20) + 1, .tooLarge), (64 << 20, .tooLarge)])
    func hugeInputIsMalformed(_ count: Int, _ reason: JSONError.Code) throws {
        let error = try #require(Self.refusal(of: Bytes(repeating: UInt8(ascii: " "), count: count)))
        #expect(error.code == .malformedPayload)
        #expect(error.description.contains(reason.description))
    }

    @Test(arguments: [
        #"{"aps":{}}"#, #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":{}}}"#,
        #"{"aps":{"alert":{"title":"","subtitle":"","body":""}}}"#, #"{"aps":{"alert":{"launch-image":"i.png"}}}"#,
        #"{"aps":{"alert":{"loc-args":["x"]}}}"#, #"{"aps":{"alert":{"loc-key":""}}}"#,
        #"{"aps":{"badge":3,"sound":"default"}}"#, #"{"aps":{"content-available":1}}"#,
    ])
    func anAlertWithoutTextIsRefusedBecauseNothingWouldStartTheExtension(_ payload: String) throws {
        let error = try #require(Self.refusal(of: payload))
        #expect(error.code == .nothingToShow)
        #expect(error.description.contains("aps.alert"))
        // The app opens these itself, and shows what it likes.
        #expect(Self.refusal(of: payload, as: .background) == nil)
        #expect(Self.refusal(of: payload, as: .voip) == nil)
    }

    @Test(arguments: ["\"AW3k\"", "null", "1", "{}", "[]", "\"\""])
    func aKeyThatTheFormatNeedsIsReserved(_ value: String) throws {
        for (name, written) in [
            ("ENCRYPTED_DATA", "ENCRYPTED_DATA"), ("ENCRYPTED_DATA", "\\u0045NCRYPTED_DATA"),
            ("pushcrypt", "pushcrypt"), ("pushcrypt", "pushcryp\\u0074"),
        ] {
            let error = try #require(Self.refusal(of: #"{"aps":{"alert":"x"},""# + written + "\":" + value + "}"))
            #expect(error.code == .reservedKey)
            #expect(error.description.contains(name))
        }
    }
}

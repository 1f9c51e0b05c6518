import Testing

@testable import Pushcrypt

/// The app that a message is for: 1 to 255 bytes of ASCII letters, digits, `.` and `-`. (`Docs/Format.md`, K-2)
@Suite struct TopicTests {
    @Test func everyOtherCharacterIsRefused() {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-".unicodeScalars)
        for value in UInt32(0)...0x17F {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isTaken = (try? Topic("com.example.\(scalar)app")) != nil
            #expect(isTaken == allowed.contains(scalar), "U+\(String(value, radix: 16))")
        }
    }

    @Test(arguments: [(0, false), (1, true), (255, true), (256, false), (65_536 + 15, false)])
    func aTopicHas1To255Bytes(_ count: Int, _ isTaken: Bool) {
        #expect(((try? Topic(String(repeating: "a", count: count))) != nil) == isTaken)
    }

    /// lp16 of the context: two bytes of length, then the bytes.
    @Test func theLengthStandsInFrontBigEndian() throws {
        #expect(try Topic("a").lengthPrefixed == [0, 1, 0x61])
        #expect(try Topic("com.example.app").lengthPrefixed == [0, 15] + Bytes("com.example.app".utf8))
        #expect(try Topic(String(repeating: "a", count: 255)).lengthPrefixed.prefix(2) == [0, 255])
    }

    @Test func topicsAreEqualByteForByte() throws {
        #expect(try Topic("com.example.app") == Topic("com.example.app"))
        #expect(try Topic("com.example.app") != Topic("com.example.App"))
        #expect(try Topic("com.example.app").description == "com.example.app")
    }

    @Test func theErrorSaysWhatATopicLooksLike() {
        let error = #expect(throws: InvalidTopic.self) { try Topic("com example") }
        #expect(error?.description.contains("com.example.app") == true)
    }
}

import Testing
import VectorKit

@testable import Pushcrypt

/// An error goes into logs: it says what to do, and holds nothing of a payload, a key or an envelope.
@Suite struct OpenerErrorTests {
    /// Contents that a description must not have: payloads, and words longer than any of ours. A key has 62 characters as
    /// text and 64 as digits; a third of one would be seen.
    private static func leaks(in description: String) -> [String] {
        let words = description.split { !($0.isLetter || $0.isNumber || "-_+/=".contains($0)) }
        return words.filter { $0.count > 20 }.map(String.init)
            + ["Table", "See you", "c41", "zebra"].filter(description.contains)
    }

    @Test(arguments: try KitGroup.envelopes.vectors().filter { $0.expect != "opened" })
    func noVectorLeaks(_ vector: KitVector) throws {
        let receiver = try KitReceiver(vector)
        let body = vector.body
        let error = try #require(
            #expect(throws: OpenError.self) {
                try receiver.opener.open(Envelope(text: body.span), at: receiver.now, as: receiver.pushClass)
            })
        #expect(!error.description.isEmpty && Self.leaks(in: error.description).isEmpty, "\(error)")
    }

    /// Nobody learns which check it was.
    @Test func everyAuthenticationFailureSaysTheSame() throws {
        var said: Set<String> = []
        for vector in try KitGroup.envelopes.vectors() where vector.expect == "authentication-failed" {
            let receiver = try KitReceiver(vector)
            let body = vector.body
            let error = try #require(
                #expect(throws: OpenError.self) {
                    try receiver.opener.open(Envelope(text: body.span), at: receiver.now, as: receiver.pushClass)
                })
            said.insert(error.description)
        }
        #expect(said.count == 1, "\(said)")
    }

    @Test(arguments: [
        "zebra", #"{"zebra":1}"#, #"{"ENCRYPTED_DATA":"zebra"}"#, #"{"zebra":1,"zebra":2}"#, #"["zebra"]"#,
        #"{"aps":{"alert":"zebra"},"ENCRYPTED_DATA":{"zebra":"zebra"}}"#, #"{"zebra":"\ud800"}"#,
    ])
    func noPushLeaks(_ push: String) throws {
        let opener = try FormatFixture().opener()
        let error = try #require(
            #expect(throws: OpenError.self) { try opener.open(push.utf8, at: FormatFixture.now) })
        #expect(!error.description.isEmpty && Self.leaks(in: error.description).isEmpty, "\(error)")
    }

    /// The two tests above look for leaks; this one makes sure that they would see one.
    @Test func aLeakWouldBeSeen() throws {
        let key = try FormatFixture.provider(101).publicKey
        for leak in [key.description, key.bytes.hex, Base64URL.string(key.bytes.span), "the title is Table for two"] {
            #expect(!Self.leaks(in: "wrong: \(leak)").isEmpty)
        }
    }

    @Test func theReasonNamesTheTimesSoThatAClockCanBeFixed() throws {
        let fixture = try FormatFixture()
        let sealed = try fixture.seal(alertPayload(), at: Timestamp(milliseconds: 1_790_000_000_000))
        let late = Timestamp(milliseconds: 1_800_000_000_000)
        let expired = #expect(throws: OpenError.self) { try fixture.opener().open(sealed.json, at: late) }
        #expect(expired?.description.contains("2026-09-21T14:13:20Z") == true)
        #expect(expired?.description.contains("2027-01-15T08:00:00Z") == true)
        #expect(expired?.description.contains("2026-10-21T14:10:00Z") == true)
    }
}

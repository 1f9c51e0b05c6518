import Testing

@testable import Pushcrypt

/// A payload in, the payload to send instead out.
@Suite struct SealerTests {
    private static let payload = #"""
        {
          "aps": {"alert": {"title": "Table for two", "body": "See you at 8 🚲 — 내일 봐"}, "sound": "default"},
          "chat-room": {"id": "c41-zebra", "unread": 12345678901234567890.50}
        }
        """#
    private static let minified =
        #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8 🚲 — 내일 봐"},"sound":"default"},"#
        + #""chat-room":{"id":"c41-zebra","unread":12345678901234567890.50}}"#

    @Test func whatIsSealedOpensAsItWas() throws {
        let fixture = try FormatFixture()
        let sealed = try Sealer(provider: fixture.provider, topic: fixture.topic).seal(
            Sealer.Message(Self.payload.utf8), to: fixture.device.publicKey, at: FormatFixture.now)
        let opened = try fixture.opener().open(sealed.json, at: FormatFixture.now)
        #expect(jsonText(opened.payload) == Self.minified)
        #expect(opened.messageID == sealed.messageID)
        #expect(opened.title == "Table for two")
        #expect(opened.subtitle == nil)
        #expect(opened.body == "See you at 8 🚲 — 내일 봐")
        #expect(opened.sentAt == FormatFixture.now)
        // The last multiple of ten minutes within 30 days.
        #expect(opened.expiresAt == FormatFixture.now.adding(.seconds(2_591_800)))
        #expect(opened.provider == fixture.provider.publicKey)
        #expect(opened.openedWith == fixture.device.publicKey)
        #expect(opened.epoch == 0 && opened.certificate == nil && !opened.hasCertificateConflict)
    }

    /// No five characters in a row of anything that the payload says, in the JSON or behind its base64url.
    @Test func theRelayReadsNothingOfThePayload() throws {
        let fixture = try FormatFixture()
        let sealed = try fixture.seal(Self.payload)
        let visible = jsonText(sealed.json)
        let decoded = String(decoding: sealed.envelope.bytes, as: Unicode.ASCII.self)
        for secret in [
            "Table for two", "See you at 8", "내일 봐", "chat-room", "c41-zebra", "unread", "12345678901234567890.50",
        ] {
            let characters = Array(secret)
            for start in 0...max(0, characters.count - 5) {
                let part = String(characters[start..<min(start + 5, characters.count)])
                #expect(!visible.contains(part), "\(part)")
                #expect(!decoded.contains(part), "\(part)")
            }
        }
    }

    /// Two payloads of one bucket differ in nothing that the relay can measure.
    @Test func lengthsOfOneBucketLookAlike() throws {
        let fixture = try FormatFixture()
        let short = try fixture.seal(alertPayload(count: 21))
        let long = try fixture.seal(alertPayload(count: 157))
        #expect(short.json.count == long.json.count)
        #expect(short.envelope.bytes.prefix(5) == long.envelope.bytes.prefix(5))
    }

    /// Each task opens what it has sealed, and no two envelopes share their secret.
    @Test func manyTasksSealWithOneSealer() async throws {
        let fixture = try FormatFixture()
        let sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
        let shares = try await withThrowingTaskGroup(of: [Bytes].self) { group in
            for task in 0..<8 {
                group.addTask {
                    try (0..<50).map { number in
                        let payload = Bytes(alertPayload("\(task)-\(number)").utf8)
                        let sealed = try sealer.seal(
                            Sealer.Message(payload), to: fixture.device.publicKey, at: FormatFixture.now)
                        #expect(try fixture.opener().open(sealed.json, at: FormatFixture.now).payload == payload)
                        return sealed.envelope.enc
                    }
                }
            }
            return try await group.reduce(into: Set<Bytes>()) { $0.formUnion($1) }
        }
        #expect(shares.count == 400)
    }
}

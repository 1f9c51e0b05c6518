import Testing

@testable import Pushcrypt

/// Every reason for which a payload is refused: the code for programs, the place and the remedy for a person.
@Suite struct SealerErrorTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let code: SealError.Code
        /// The place and the fix in the description.
        let says: [String]
        let seal: @Sendable () throws -> Void

        var testDescription: String { code.description }
    }

    private static func seal(
        _ payload: String, at now: Timestamp = FormatFixture.now, _ change: (inout Sealer.Message) -> Void = { _ in }
    ) throws {
        var message = Sealer.Message([])
        change(&message)
        _ = try FormatFixture().seal(payload, at: now, like: message)
    }

    static let refusals: [Refusal] = [
        Refusal(code: .malformedPayload, says: ["not JSON", "byte 1"]) { try seal("{zebra}") },
        Refusal(code: .missingAPS, says: ["no aps object"]) { try seal(#"{"zebra":{}}"#) },
        Refusal(code: .invalidField, says: ["aps.mutable-content", "1 or 0"]) {
            try seal(#"{"aps":{"alert":"zebra","mutable-content":"1"}}"#)
        },
        Refusal(code: .nothingToShow, says: ["aps.alert", "add a body", "unsealed"]) {
            try seal(#"{"aps":{"thread-id":"zebra"}}"#)
        },
        Refusal(code: .reservedKey, says: ["already has ENCRYPTED_DATA", "the original payload"]) {
            try seal(#"{"aps":{"alert":"x"},"ENCRYPTED_DATA":"zebra"}"#)
        },
        Refusal(code: .reservedKey, says: ["pushcrypt at the top level", "rename", "attachments"]) {
            try seal(#"{"aps":{"alert":"x"},"pushcrypt":"zebra"}"#)
        },
        Refusal(code: .tooManyAttachments, says: ["at most 8", "9 were given"]) {
            let fixture = try FormatFixture()
            var message = Sealer.Message(alertPayload("zebra").utf8)
            message.attachments = Array(repeating: try AttachmentReferenceTests.reference(name: "zebra"), count: 9)
            _ = try Sealer(provider: fixture.provider, topic: fixture.topic).seal(
                message, to: fixture.device.publicKey, at: FormatFixture.now)
        },
        Refusal(code: .payloadTooLarge, says: ["2597 bytes", "1 more than fit (2596)", "shorten"]) {
            try seal(alertPayload("zebra" + String(repeating: "x", count: 2597 - 25)))
        },
        Refusal(
            code: .pushTooLarge,
            says: ["4097 bytes", "1 more than Apple accepts (4096)", "shorten the placeholder's title"]
        ) {
            _ = try FormatFixture().seal(
                alertPayload("zebra" + String(repeating: "x", count: 2596 - 25)),
                placeholder: Placeholder(title: String(repeating: "x", count: 171)))
        },
        Refusal(code: .pushTypeNotSealable, says: ["the system reads a liveactivity push"]) {
            let type = try PushType("liveactivity")
            try seal(alertPayload("zebra")) { $0.pushType = type }
        },
        Refusal(code: .invalidPlaceholder, says: ["placeholder's title is empty"]) { _ = try Placeholder(title: " ") },
        Refusal(code: .invalidPlaceholder, says: ["placeholder's sound is empty", "silence"]) {
            _ = try Placeholder(sound: .named(""))
        },
        Refusal(code: .invalidPlaceholder, says: ["placeholder's title has 4097 bytes", "at most 4096"]) {
            _ = try Placeholder(title: String(repeating: "x", count: 4097))
        },
        Refusal(code: .invalidPlaceholder, says: ["placeholder's sound has 4097 bytes"]) {
            _ = try Placeholder(sound: .named(String(repeating: "x", count: 4097)))
        },
        Refusal(code: .invalidRequest, says: ["the message's name is empty"]) {
            try seal(alertPayload("zebra")) { $0.name = "" }
        },
        Refusal(code: .invalidRequest, says: ["at most 64 others", "65 were given", "several messages"]) {
            try seal(alertPayload("zebra")) { $0.withdrawing = (1...65).map { "order-\($0)" } }
        },
        Refusal(code: .invalidRequest, says: ["name of a message to withdraw is empty"]) {
            try seal(alertPayload("zebra")) { $0.withdrawing = ["order-17", ""] }
        },
        Refusal(code: .invalidRequest, says: ["would withdraw itself", "another name"]) {
            try seal(alertPayload("zebra")) { ($0.name, $0.withdrawing) = ("order-17", ["order-17"]) }
        },
        Refusal(code: .invalidTime, says: ["at most 2592000 seconds"]) {
            try seal(alertPayload("zebra")) { $0.timeToLive = .seconds(2_592_001) }
        },
        Refusal(code: .invalidTime, says: ["the clock must be right"]) {
            try seal(alertPayload("zebra"), at: Timestamp(milliseconds: 1 << 53))
        },
        Refusal(code: .invalidTime, says: ["certificate expired at", "replace the key"]) {
            let issuer = try Issuer()
            let end = FormatFixture.now.adding(.days(90))
            let signer = try issuer.signer(try issuer.certificate(1, expiresAt: end))
            func seal(at now: Timestamp) throws {
                _ = try Sealer(signer: signer, topic: issuer.topic).seal(
                    Sealer.Message(alertPayload("zebra").utf8), to: FormatFixture.device(1).publicKey, at: now)
            }
            try seal(at: end)
            try seal(at: Timestamp(milliseconds: end.milliseconds + 1))
        },
        Refusal(code: .invalidRequest, says: ["background pushes with priority 10"]) {
            let fixture = try FormatFixture()
            var message = Sealer.Message(alertPayload("zebra").utf8)
            message.pushType = .background
            let sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
            let sealed = try sealer.seal(message, to: fixture.device.publicKey, at: FormatFixture.now)
            _ = try sealer.request(for: sealed, priority: .immediate)
        },
        Refusal(code: .unusableKey, says: ["libsodium refused the device's key", "register again"]) {
            // No import gives such a key; a row that somebody wrote past the library could.
            let fixture = try FormatFixture()
            let zero = DevicePublicKey(checked: Bytes(repeating: 0, count: 32))
            _ = try Sealer(provider: fixture.provider, topic: fixture.topic).seal(
                Sealer.Message(alertPayload("zebra").utf8), to: zero, at: FormatFixture.now)
        },
    ]

    @Test(arguments: refusals) func aRefusalNamesThePlaceAndNothingOfThePayload(_ refusal: Refusal) throws {
        let error = try #require(#expect(throws: SealError.self) { try refusal.seal() })
        #expect(error.code == refusal.code)
        for part in refusal.says { #expect(error.description.contains(part), "\(error.description)") }
        #expect(!error.description.contains("zebra"))
    }

    @Test func everyCodeIsReached() {
        // PostQuantumKeyTests reaches the last one, which depends on libsodium.
        #expect(Set(Self.refusals.map(\.code)).union([.unsupportedSuite]) == Set(SealError.Code.allCases))
    }

    @Test func errorsAreEqualWhenTheirCodesAre() {
        #expect(SealError(.invalidTime, "one") == SealError(.invalidTime, "another"))
        #expect(SealError(.invalidTime, "one") != SealError(.missingAPS, "one"))
        #expect(Set([SealError(.invalidTime, "one"), SealError(.invalidTime, "another")]).count == 1)
    }

    /// A certificate of another app is a mistake in the caller's program, not in the payload.
    @Test func aSignerOfAnotherAppTraps() async {
        await #expect(processExitsWith: .failure) {
            let issuer = try Issuer()
            let signer = try issuer.signer(try issuer.certificate(1))
            _ = Sealer(signer: signer, topic: try Topic("com.example.other"))
        }
    }
}

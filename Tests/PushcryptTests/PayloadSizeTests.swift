import Testing

@testable import Pushcrypt

/// How long a payload may be, and the push that it becomes: at the limit, and one byte beyond it.
/// (`Docs/Format.md`, S-4 to S-6)
@Suite struct PayloadSizeTests {
    struct Budget: Sendable, CustomTestStringConvertible {
        let type: PushType
        let epoch: UInt32
        let bytes: Int

        var testDescription: String { "\(type), epoch \(epoch)" }
    }

    /// 2816 - 99 and 3584 - 99, and 121 less for a certificate, also at epoch 0.
    static let budgets = [
        Budget(type: .alert, epoch: 0, bytes: 2596), Budget(type: .background, epoch: 0, bytes: 2596),
        Budget(type: .voip, epoch: 0, bytes: 3364), Budget(type: .alert, epoch: 1, bytes: 2596),
        Budget(type: .background, epoch: 1, bytes: 2596), Budget(type: .voip, epoch: 1, bytes: 3364),
    ]

    @Test(arguments: budgets) func aPayloadFillsTheLargestBucketAndNotAByteMore(_ budget: Budget) throws {
        var options = Sealer.Message([])
        options.pushType = budget.type
        let fixture = try FormatFixture(epoch: budget.epoch)
        let sealed = try fixture.seal(alertPayload(count: budget.bytes), like: options)
        #expect(sealed.envelope.innerLength == (budget.type == .voip ? 3584 : 2816))

        for excess in [1, 1000] {
            let error = try #require(
                #expect(throws: SealError.self) {
                    try fixture.seal(alertPayload(count: budget.bytes + excess), like: options)
                })
            #expect(error.code == .payloadTooLarge)
            #expect(error.description.contains("has \(budget.bytes + excess) bytes"))
            #expect(error.description.contains("\(excess) more than fit (\(budget.bytes))"))
        }
    }

    @Test func theBudgetIsPublished() {
        #expect([PushType.alert, .background, .voip].map(\.maximumPayloadLength) == [2596, 2596, 3364])
    }

    /// A payload that seals before the first rotation seals after it: with a certificate, this payload needs the largest bucket.
    @Test(arguments: [0, 1] as [UInt32]) func aRotationShrinksNoPlaceholder(_ epoch: UInt32) throws {
        let fixture = try FormatFixture(epoch: epoch)
        func seal(_ count: Int) throws -> SealedPayload {
            try fixture.seal(
                alertPayload(count: 2341), placeholder: Placeholder(title: String(repeating: "x", count: count)))
        }
        #expect(try seal(170).envelope.innerLength == (epoch == 0 ? 2560 : 2816))
        #expect(throws: SealError(.pushTooLarge, "")) { try seal(171) }
    }

    // MARK: The push

    /// A title of `count` times `character`, each of `width` bytes, in a push of `length` bytes.
    struct Push: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isSentExactly: Bool
        /// The payload's length, which decides the envelope's: 3826 characters or 412.
        let payload: Int
        let character: String
        let width: Int
        let count: Int
        let length: Int

        init(
            _ name: String, exactly: Bool, payload: Int = 2596, character: String, width: Int, count: Int, length: Int
        ) {
            testDescription = name
            isSentExactly = exactly
            self.payload = payload
            (self.character, self.width, self.count, self.length) = (character, width, count, length)
        }
    }

    /// Around the title and the envelope there are 91 bytes without spaces, 100 with them.
    static let pushes = [
        Push("exact", exactly: true, character: "x", width: 1, count: 179, length: 4096),
        Push("widest", exactly: false, character: "x", width: 1, count: 170, length: 4096),
        Push("exact, Korean", exactly: true, character: "새", width: 3, count: 59, length: 4094),
        Push("widest, Korean", exactly: false, character: "새", width: 6, count: 28, length: 4094),
        Push("widest, bicycles", exactly: false, character: "🚲", width: 12, count: 14, length: 4094),
        Push("widest, slashes", exactly: false, character: "/", width: 2, count: 85, length: 4096),
        Push("exact, quotation marks", exactly: true, character: "\"", width: 2, count: 89, length: 4095),
        Push("widest, quotation marks", exactly: false, character: "\"", width: 6, count: 28, length: 4094),
        Push("exact, short", exactly: true, payload: 36, character: "x", width: 1, count: 3593, length: 4096),
        Push("widest, short", exactly: false, payload: 36, character: "x", width: 1, count: 3584, length: 4096),
    ]

    @Test(arguments: pushes) func aTitleFillsThePushAndNotACharacterMore(_ push: Push) throws {
        var options = Sealer.Message([])
        options.isSentExactly = push.isSentExactly
        let fixture = try FormatFixture()
        func seal(_ count: Int) throws -> SealedPayload {
            let placeholder = try Placeholder(title: String(repeating: push.character, count: count))
            return try fixture.seal(alertPayload(count: push.payload), like: options, placeholder: placeholder)
        }
        let sealed = try seal(push.count)
        #expect((push.isSentExactly ? sealed.json.count : sealed.maximumReencodedLength) == push.length)

        let error = try #require(#expect(throws: SealError.self) { try seal(push.count + 1) })
        let tooLong = push.length + push.width
        #expect(error.code == .pushTooLarge)
        #expect(error.description.contains("\(tooLong) bytes"))
        #expect(error.description.contains("\(tooLong - 4096) more than Apple accepts (4096)"))
        #expect(error.description.contains("widest") == !push.isSentExactly)
    }

    /// Its clear part is fixed, so that the payload's own limit is the only one: 4850 of 5120 bytes are the envelope.
    @Test func aCallFitsWithRoomToSpare() throws {
        var options = Sealer.Message([])
        options.pushType = .voip
        let longTitle = try Placeholder(title: String(repeating: "x", count: 4096))
        let sealed = try FormatFixture().seal(
            #"{"aps":{"content-available":1},"x":""# + String(repeating: "x", count: 3364 - 38) + "\"}",
            like: options, placeholder: longTitle)
        #expect(sealed.envelope.text.utf8.count == 4850)
        #expect(sealed.json.count == #"{"aps":{"content-available":1},"ENCRYPTED_DATA":""}"#.utf8.count + 4850)
        #expect(
            sealed.maximumReencodedLength == #"{"aps": {"content-available": 1}, "ENCRYPTED_DATA": ""}"#.utf8.count
                + 4850)
    }

    /// A long field that is kept in the clear takes room twice.
    @Test func aFieldInTheClearCountsForThePush() throws {
        let payload =
            #"{"aps":{"alert":"x","thread-id":""# + String(repeating: "t", count: 400) + "\"},\"x\":\""
            + String(repeating: "x", count: 2100) + "\"}"
        let placeholder = try Placeholder(clearFields: [.threadID])
        _ = try FormatFixture().seal(payload)
        let error = try #require(
            #expect(throws: SealError.self) { try FormatFixture().seal(payload, placeholder: placeholder) })
        #expect(error.code == .pushTooLarge)
    }
}

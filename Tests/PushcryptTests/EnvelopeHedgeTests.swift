import Testing
import VectorKit

@testable import Pushcrypt

/// The random source is dead: it gives the same bytes every time, as on a cloned machine.
///
/// Two messages that differ in anything still never share an ephemeral key, because everything that they hold goes into it.
/// (`Docs/Format.md`, S-12)
@Suite struct EnvelopeHedgeTests {
    @Test func twoThousandMessagesHaveTwoThousandSharesAndIDs() throws {
        let provider = try FormatFixture()
        var shares = Set<Bytes>()
        var ids = Set<MessageID>()
        for number in 0..<2000 {
            let sealed = try provider.seal(alertPayload("message \(number)"))
            shares.insert(sealed.envelope.enc)
            ids.insert(sealed.messageID)
        }
        #expect(shares.count == 2000)
        #expect(ids.count == 2000)
    }

    struct Variation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var keepsTheID = true
        let seal: @Sendable () throws -> SealedPayload

        init(_ name: String, keepsTheID: Bool = true, seal: @escaping @Sendable () throws -> SealedPayload) {
            testDescription = name
            self.keepsTheID = keepsTheID
            self.seal = seal
        }
    }

    private static func options(_ change: (inout Sealer.Message) -> Void) -> Sealer.Message {
        var options = Sealer.Message([])
        change(&options)
        return options
    }

    /// The id names what is said and when; it is the same for every device, so that it can be the same in a re-seal.
    static let variations = [
        Variation("the random bytes", keepsTheID: false) { try FormatFixture().seal(alertPayload(), random: 1) },
        Variation("the payload", keepsTheID: false) { try FormatFixture().seal(alertPayload("See you at 9")) },
        Variation("a millisecond", keepsTheID: false) {
            try FormatFixture().seal(alertPayload(), at: FormatFixture.now.adding(milliseconds: 1))
        },
        Variation("the time to live") {
            try FormatFixture().seal(
                alertPayload(), like: options { $0.timeToLive = .seconds($0.timeToLive.seconds - 3600) })
        },
        Variation("the topic") { try FormatFixture(topic: "com.example.ap").seal(alertPayload()) },
        Variation("the device") { try FormatFixture(device: 2).seal(alertPayload()) },
        Variation("the provider", keepsTheID: false) { try FormatFixture(provider: 102).seal(alertPayload()) },
        Variation("a name for the message", keepsTheID: false) {
            try FormatFixture().seal(alertPayload(), like: options { $0.name = "order-7731" })
        },
        Variation("the epoch", keepsTheID: false) { try FormatFixture(epoch: 1).seal(alertPayload()) },
    ]

    @Test(arguments: variations) func whateverDiffersMakesAnotherShare(_ variation: Variation) throws {
        let (first, second) = (try FormatFixture().seal(alertPayload()), try variation.seal())
        #expect(first.envelope.enc != second.envelope.enc)
        #expect((first.messageID == second.messageID) == variation.keepsTheID)
    }

    @Test func aNamedMessageKeepsItsIDInEveryReseal() throws {
        let options = Self.options { $0.name = "order-7731" }
        let first = try FormatFixture().seal(alertPayload(), like: options)
        let again = try FormatFixture(device: 2, provider: 102).seal(
            alertPayload("See you at 9"), at: FormatFixture.now.adding(milliseconds: 5), like: options, random: 1)
        #expect(first.messageID == again.messageID)
        // SHA-256 of "pushcrypt/1 caller id", a zero byte and the name, cut to 16 bytes; made with sha256sum.
        #expect(first.messageID.description == "cc0722944d932c0ec631e800db6d35b3")
        #expect(first.envelope.enc != again.envelope.enc)
    }

    /// Even for one message and one device, another draw gives another key: that is what randomness is for.
    @Test func anotherDrawMakesAnotherShareOfANamedMessage() throws {
        let options = Self.options { $0.name = "order-7731" }
        let fixture = try FormatFixture()
        let shares = try (0..<100).map { try fixture.seal(alertPayload(), like: options, random: $0).envelope.enc }
        #expect(Set(shares).count == 100)
    }

    /// The key itself goes in, and not only its id, of which these two devices have the same.
    @Test func twoDevicesWithOneKeyIDHaveTwoShares() throws {
        let devices = try KitGroup.keys.vectors()
            .filter { $0.path.hasPrefix("keys/a-device-key-whose-id-another-has-too") }
            .map { try DevicePublicKey(text: $0.text) }
        try #require(devices.count == 2 && devices[0].id == devices[1].id)
        let fixture = try FormatFixture()
        let random = Bytes(repeating: 0, count: 32)
        let shares = try devices.map { device in
            try Sealer(provider: fixture.provider, topic: fixture.topic).seal(
                Sealer.Message(alertPayload().utf8), to: device, at: FormatFixture.now,
                Randomness(messageID: random.span, ephemeral: random.span)
            ).envelope.enc
        }
        #expect(shares[0] != shares[1])
    }

    /// Without the seam the system's random source is asked, each time.
    @Test func freshRandomnessMakesEverySealDifferent() throws {
        let fixture = try FormatFixture()
        let sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
        var shares = Set<Bytes>()
        for _ in 0..<100 {
            let sealed = try sealer.seal(
                Sealer.Message(alertPayload().utf8), to: fixture.device.publicKey, at: FormatFixture.now)
            shares.insert(sealed.envelope.enc)
        }
        #expect(shares.count == 100)
    }
}

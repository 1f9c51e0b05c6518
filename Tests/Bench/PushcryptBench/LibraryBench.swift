import Pushcrypt

/// One seal and one open of the library against the libsodium calls they are made of.
struct LibraryBench {
    /// What the library may cost above the bare calls.
    private static let limit = 1.05

    /// A chat message of 200 bytes.
    private static let payload = Array(
        #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8 on the terrace, they keep the table for us until a quarter past"},"sound":"default","thread-id":"chat-c41"},"chat":"c41","message":"7182"}"#
            .utf8)
    private static let time = Timestamp(milliseconds: 1_790_000_000_000)

    private let device: DevicePublicKey
    private let sealer: Sealer
    private let opener: Opener
    private let bare: BareCaller
    /// What the library has sealed: the push, and the envelope's text alone.
    private let push: [UInt8]
    private let text: [CChar]

    init() throws {
        let seed = [UInt8](0..<32)
        let scalar = [UInt8](32..<64)
        let topic = try Topic("com.example.app")
        let sender = try SenderKey(seed: ContiguousArray(seed).span)
        let device = try DeviceKey(scalar: ContiguousArray(scalar).span)
        self.device = device.publicKey
        sealer = Sealer(sender: sender, topic: topic)
        opener = Opener(topic: topic, deviceKeys: [device], trust: SenderTrust(pinned: [sender.publicKey]))
        bare = try BareCaller(seed: seed, scalar: scalar, topic: topic.bundleID)
        let sealed = try sealer.seal(Self.payload, to: device.publicKey, at: Self.time)
        push = Array(sealed.json)
        text = sealed.envelope.text.utf8.map { CChar(bitPattern: $0) }
    }

    /// Makes sure that both do the same work: each opens what the other seals.
    func check() throws {
        guard Self.payload.count == 200 else { throw SelfCheckFailure(what: "the payload is not one of 200 bytes") }
        guard bare.opened(bare.open(text)) == Self.payload else {
            throw SelfCheckFailure(what: "the bare calls do not open what the library seals")
        }
        let sealed = bare.sealed(bare.seal(Self.payload, at: Self.time))
        let push = Array(#"{"ENCRYPTED_DATA":""#.utf8) + sealed + Array(#""}"#.utf8)
        guard try Array(opener.open(push, at: Self.time).payload) == Self.payload else {
            throw SelfCheckFailure(what: "the library does not open what the bare calls seal")
        }
        guard sealed.count == text.count else { throw SelfCheckFailure(what: "the two seal to different lengths") }
    }

    func run() throws {
        let seal = try Comparison {
            _ = try sealer.seal(Self.payload, to: device, at: Self.time)
        } against: {
            _ = bare.seal(Self.payload, at: Self.time)
        }
        let open = try Comparison {
            _ = try opener.open(push, at: Self.time)
        } against: {
            _ = bare.open(text)
        }
        for (what, comparison) in [("seal, 200 bytes, library", seal), ("open, 200 bytes, library", open)] {
            Table.printRatio(
                what, comparison.measured / 1000, against: comparison.yardstick / 1000, "libsodium",
                ratio: comparison.ratio, limit: Self.limit, unit: "µs")
        }
    }
}

/// The bench does not measure what it says: the two sides do not do the same work.
struct SelfCheckFailure: Error, CustomStringConvertible {
    let what: String

    var description: String { "the self-check failed: \(what)" }
}

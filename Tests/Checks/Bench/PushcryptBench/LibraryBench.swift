import Pushcrypt

/// One seal and one open of the library against the libsodium calls they are made of.
struct LibraryBench {
    /// A chat message of 200 bytes.
    static let payload = Array(
        #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8 on the terrace, they keep the table for us until a quarter past"},"sound":"default","thread-id":"chat-c41"},"chat":"c41","message":"7182"}"#
            .utf8)
    private static let time = Timestamp(milliseconds: 1_790_000_000_000)

    private let suite: CipherSuite
    private let device: DevicePublicKey
    private let sealer: Sealer
    private let opener: Opener
    private let bare: BareCaller
    /// The library's output: the push, and the envelope's text alone.
    private let push: [UInt8]
    private let text: [CChar]

    init(_ suite: CipherSuite = .x25519) throws {
        let seed = [UInt8](0..<32)
        let scalar = [UInt8](32..<64)
        let topic = try Topic("com.example.app")
        let provider = try ProviderKey(seed: ContiguousArray(seed).span)
        let device = try DeviceKey(scalar: ContiguousArray(scalar).span, suite)
        self.suite = suite
        self.device = device.publicKey
        sealer = Sealer(provider: provider, topic: topic)
        opener = Opener(topic: topic, deviceKeys: [device], trust: ProviderTrust(pinned: [provider.publicKey]))
        bare = try BareCaller(suite, seed: seed, scalar: scalar, topic: topic.bundleID)
        let sealed = try sealer.seal(Sealer.Message(Self.payload), to: device.publicKey, at: Self.time)
        push = Array(sealed.json)
        text = sealed.envelope.text.utf8.map { CChar(bitPattern: $0) }
    }

    /// Makes sure that both do the same work: each opens what the other seals.
    private func check() throws {
        try expect(Self.payload.count == 200, "the payload is not one of 200 bytes")
        try expect(bare.opened(bare.open(text)) == Self.payload, "the bare calls do not open what the library seals")
        let sealed = bare.sealed(bare.seal(Self.payload, at: Self.time))
        try expect(sealed.count == text.count, "the two seal to different lengths")
        let push = Array(#"{"ENCRYPTED_DATA":""#.utf8) + sealed + Array(#""}"#.utf8)
        let opened = try opener.open(push, at: Self.time)
        try expect(Array(opened.payload) == Self.payload, "the library does not open what the bare calls seal")
    }

    private func expect(_ isTrue: Bool, _ otherwise: String) throws(BenchFailure) {
        if !isTrue { throw BenchFailure(what: "self-check: \(otherwise)") }
    }

    /// Measures both, and gives the numbers as one line: library, libsodium, ratio; of a seal, then of an open; of each suite.
    static func sample() throws -> String {
        try CipherSuite.supported.map { try LibraryBench($0).sample() }.joined(separator: " ")
    }

    private func sample() throws -> String {
        try check()
        let seal = try Comparison {
            _ = try sealer.seal(Sealer.Message(Self.payload), to: device, at: Self.time)
        } against: {
            _ = bare.seal(Self.payload, at: Self.time)
        }
        let open = try Comparison {
            _ = try opener.open(push, at: Self.time)
        } against: {
            _ = bare.open(text)
        }
        let numbers = [seal.measured, seal.yardstick, seal.ratio, open.measured, open.yardstick, open.ratio]
        return numbers.map { "\($0)" }.joined(separator: " ")
    }

    static let counted: Set = ["seal", "slower", "open", "bare-seal", "bare-open"]

    /// Does one thing so many times.
    func run(_ what: String, times: Int) throws {
        for number in 0..<times {
            switch what {
            case "bare-seal": _ = bare.seal(Self.payload, at: Self.time)
            case "bare-open": _ = bare.open(text)
            case "open": _ = try opener.open(push, at: Self.time)
            default:
                for _ in 0..<(what == "slower" && number.isMultiple(of: 30) ? 2 : 1) {
                    _ = try sealer.seal(Sealer.Message(Self.payload), to: device, at: Self.time)
                }
            }
        }
    }

    /// The seconds that so many bare seals take.
    ///
    /// Those of suite 2 are to 256 devices in turn, since a batch has many: which bytes of a device's matrix are rejected is
    /// different for each. The processor would learn those of a single one, and save 2 % of a seal.
    func secondsOfBareSeals(_ count: Int) throws -> Double {
        try check()
        guard suite == .xwing else {
            return nanoseconds(count) { _ = bare.seal(Self.payload, at: Self.time) } * Double(count) / 1e9
        }
        try bare.makeOthers(suite, seed: [UInt8](0..<32), topic: "com.example.app")
        var number = 0
        return nanoseconds(count) {
            _ = bare.seal(Self.payload, toOther: number, at: Self.time)
            number += 1
        } * Double(count) / 1e9
    }
}

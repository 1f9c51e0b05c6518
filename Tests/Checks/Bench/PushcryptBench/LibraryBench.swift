import Pushcrypt

/// One seal and one open of the library against the libsodium calls they are made of.
struct LibraryBench {
    /// The limit of the library's cost, against the bare calls.
    private static func limit(_ suite: CipherSuite) -> Double { suite == .x25519 ? 1.02 : 1.03 }

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
        let sealed = try sealer.seal(Self.payload, to: device.publicKey, at: Self.time)
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
            _ = try sealer.seal(Self.payload, to: device, at: Self.time)
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

    /// Seals so many messages; with the work of a thirtieth of a message more each where that is planted.
    func seal(_ count: Int, isSlower: Bool) throws {
        try check()
        for number in 0..<count {
            _ = try sealer.seal(Self.payload, to: device, at: Self.time)
            if isSlower, number.isMultiple(of: 30) { _ = try sealer.seal(Self.payload, to: device, at: Self.time) }
        }
    }

    /// Opens a message so many times.
    func open(_ count: Int) throws {
        try check()
        for _ in 0..<count { _ = try opener.open(push, at: Self.time) }
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

    /// Prints the medians of the lines of several processes.
    ///
    /// Where a process has its memory moves a ratio by a hundredth, now and then by three: one tells too little.
    static func printRows(_ lines: [String]) throws(BenchFailure) {
        let samples = lines.map { $0.split(separator: " ").compactMap { Double($0) } }
        guard !samples.isEmpty, samples.allSatisfy({ $0.count == 6 * CipherSuite.supported.count }) else {
            throw BenchFailure(what: "a sample is not six numbers for each suite")
        }
        Table.printHeader()
        for (index, suite) in CipherSuite.supported.enumerated() {
            let name = suite == .x25519 ? "" : ", suite 2"
            for (what, first) in [("seal, 200 bytes", 6 * index), ("open, 200 bytes", 6 * index + 3)] {
                let column = { (index: Int) in median(samples.map { $0[first + index] }) }
                Table.printRatio(
                    what + name, column(0) / 1000, against: column(1) / 1000, "libsodium", ratio: column(2),
                    limit: limit(suite), unit: "µs")
            }
        }
        if CipherSuite.supported.count == 1 {
            print("SKIPPED: suite 2 needs libsodium 1.0.22: make bench SODIUM=.build/sodium")
        }
    }
}

import Foundation
public import Pushcrypt

/// The receiver of a test: its clock, its app, its keys, its pins, and what it has learnt before and after.
public struct KitReceiver: Sendable {
    /// A secret key of the device; one that retires has an end date.
    public struct Device: Sendable {
        /// The receiver.
        public let key: DeviceKey
        /// The last moment at which it opens; nil without an end.
        public let end: Timestamp?
    }

    /// Its clock.
    public let now: Timestamp
    /// Its app.
    public let topic: Topic
    /// Its keys.
    public let devices: [Device]
    /// The kind of push that the caller expects.
    public let pushClass: PushClass
    /// The pins of the account, with what is known of each.
    public let trust: ProviderTrust
    /// The knowledge of each provider key for this app.
    package let learned: [ProviderPublicKey: LearnedTrust]
    /// The same afterwards.
    package let learnedAfter: [ProviderPublicKey: LearnedTrust]

    /// Sets the clock from the test.
    public init(_ vector: KitVector) throws { try self.init(vector, at: vector.time) }

    /// Creates the receiver of a test at the caller's time.
    public init(_ vector: KitVector, at now: Timestamp) throws {
        self.now = now
        topic = try Topic(vector.one("context"))
        devices = try vector.all("device").map { line in
            let (text, end) = Self.words(line)
            return Device(
                key: try Self.deviceKey(text), end: try end.map { Timestamp(milliseconds: try KitVector.number($0)) })
        }
        pushClass = try PushType(vector.optional("push-type") ?? "alert").sealableClass()
        let learned = try vector.learned("learned")
        self.learned = learned
        learnedAfter = vector.all("learned-after").isEmpty ? learned : try vector.learned("learned-after")
        trust = ProviderTrust(
            try vector.all("pin").map { text in
                let key = try ProviderPublicKey(text: text)
                return ProviderTrust.Pin(key, learned[key] ?? LearnedTrust())
            })
    }

    /// Reads the text of a device's secret key.
    public static func deviceKey(_ text: String) throws -> DeviceKey {
        let ascii = ContiguousArray(text.utf8)
        return try DeviceKey(text: ascii.span)
    }

    /// The keys that open a push now, without retiring ones past their end date.
    public var opener: Opener {
        let keys = devices.filter { device in device.end.map { now <= $0 } ?? true }.map(\.key)
        return Opener(topic: topic, deviceKeys: keys, trust: trust)
    }

    /// The words of a header line that has one or two.
    static func words(_ line: String) -> (String, String?) {
        let words = line.split(separator: " ", maxSplits: 1)
        return (String(words[0]), words.count > 1 ? String(words[1]) : nil)
    }
}

extension KitVector {
    /// The receiver's clock.
    public var time: Timestamp {
        get throws { Timestamp(milliseconds: try number("time")) }
    }

    /// Reads lines of a provider key, the highest certificate and the highest floor.
    package func learned(_ header: String) throws -> [ProviderPublicKey: LearnedTrust] {
        var learned: [ProviderPublicKey: LearnedTrust] = [:]
        for line in all(header) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let floor = UInt32(words[2]) else { throw Failure("not three words: \(line)") }
            let key = try ProviderPublicKey(text: words[0])
            guard learned[key] == nil else { throw Failure("one provider key twice: \(line)") }
            learned[key] = LearnedTrust(try Certificate(text: words[1]), floor: floor)
        }
        return learned
    }

    /// The lines of a body, whatever bytes they are.
    public var lines: [ContiguousArray<UInt8>] {
        get throws {
            try text.split(separator: "\n", omittingEmptySubsequences: false).map { try Self.bytes(ofBase64URL: $0) }
        }
    }

    static func number(_ text: String) throws -> UInt64 {
        guard let number = UInt64(text) else { throw Failure("no number: \(text)") }
        return number
    }

    /// By Foundation's reader, not by the one under test.
    private static func bytes(ofBase64URL text: some StringProtocol) throws -> ContiguousArray<UInt8> {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
        guard let data = Data(base64Encoded: standard + padding) else { throw Failure("not base64url: \(text)") }
        return ContiguousArray(data)
    }
}

import Foundation
public import Pushcrypt

/// Who receives what a test holds: its clock, its app, its keys, and whom it trusts before and after.
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
    /// Whom it trusts.
    public let trust: ProviderTrust
    /// The resulting trust; the earlier one if nothing changes.
    public let trustAfter: ProviderTrust

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
        trust = try vector.trust()
        trustAfter = try vector.trustAfter()
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

    /// Whom the receiver trusts.
    public func trust() throws -> ProviderTrust { try trust("") }

    /// Whom it trusts after all steps.
    public func trustAfter() throws -> ProviderTrust { try trust(all("sender-after").isEmpty ? "" : "-after") }

    private func trust(_ suffix: String) throws -> ProviderTrust {
        let superseded = try words("superseded\(suffix)")
        let recovery = try words("recovery")
        let last = try words("last-recovery\(suffix)")
        return ProviderTrust(
            try words("sender\(suffix)").map { line in
                let isOwn: ([String]) -> Bool = { $0[0] == line[0] }
                return ProviderTrust.Sender(
                    name: line[0], pinned: line[1] == "-" ? nil : try ProviderPublicKey(text: line[1]),
                    superseded: try superseded.filter(isOwn).map { line in
                        let statement = line.count > 2 ? try Self.statement(ofBase64URL: line[2]) : nil
                        return ProviderTrust.Superseded(
                            key: try ProviderPublicKey(text: line[1]), verifiesUntil: statement?.overlapEnd,
                            statement: statement)
                    },
                    recoveryKeys: try recovery.filter(isOwn).map { try RecoveryPublicKey(text: $0[1]) },
                    lastRecovery: try last.first(where: isOwn).map { line in
                        try Self.lastRecovery(ofBase64URL: line[1], among: recovery.filter(isOwn))
                    })
            })
    }

    /// The words of every line of a header, at least two a line.
    private func words(_ header: String) throws -> [[String]] {
        try all(header).map { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 1 else { throw Failure("too few words: \(line)") }
            return words
        }
    }

    private static func lastRecovery(
        ofBase64URL text: String, among keys: [[String]]
    ) throws -> ProviderTrust.LastRecovery {
        let claim = try bytes(ofBase64URL: text)
        let signers = try keys.map { try RecoveryPublicKey(text: $0[1]) }
        guard let last = ProviderTrust.LastRecovery(claim: claim, among: signers) else {
            throw Failure("no recovery: \(text)")
        }
        return last
    }

    /// The statements of a body, one a line, whatever they are.
    public var statements: [ContiguousArray<UInt8>] {
        get throws {
            try text.split(separator: "\n", omittingEmptySubsequences: false).map { try Self.bytes(ofBase64URL: $0) }
        }
    }

    private static func statement(ofBase64URL text: String) throws -> RotationStatement {
        let bytes = try bytes(ofBase64URL: text)
        return try RotationStatement(bytes: bytes.span)
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

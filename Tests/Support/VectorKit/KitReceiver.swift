import Foundation
public import Pushcrypt

/// Who receives what a file holds: its clock, its app, its keys, and whom it trusts before and after.
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
    public let trust: SenderTrust
    /// The resulting trust; the earlier one if nothing changes.
    public let trustAfter: SenderTrust

    /// Sets the clock from the file.
    public init(_ vector: KitVector) throws { try self.init(vector, at: vector.time) }

    /// Creates the receiver of a file at the caller's time.
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
    public func trust() throws -> SenderTrust { try trust("") }

    /// Whom it trusts after all steps.
    public func trustAfter() throws -> SenderTrust { try trust(all("sender-after").isEmpty ? "" : "-after") }

    private func trust(_ suffix: String) throws -> SenderTrust {
        SenderTrust(
            pinned: try all("sender\(suffix)").map { try SenderPublicKey(text: $0) },
            superseded: try all("superseded\(suffix)").map { line in
                let (text, statement) = KitReceiver.words(line)
                let parsed = try statement.map(Self.statement(ofBase64URL:))
                return SenderTrust.Superseded(
                    key: try SenderPublicKey(text: text), verifiesUntil: parsed?.overlapEnd, statement: parsed)
            })
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

extension SenderTrust {
    /// The same keys in another order are the same trust.
    public func isSame(as other: SenderTrust) -> Bool {
        Set(pinned) == Set(other.pinned) && pinned.count == other.pinned.count
            && Set(superseded) == Set(other.superseded) && superseded.count == other.superseded.count
    }
}

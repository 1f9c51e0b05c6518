/// The rules for a provider's name for a device, in records and in stores. (`Docs/FormatRecords.md`, D-14)
package enum DeviceID {
    /// The maximum length of a device id in bytes of UTF-8.
    package static let maximumLength = 255

    /// Whether `id` is a valid device id.
    package static func isAllowed(_ id: String) -> Bool {
        (1...maximumLength).contains(id.utf8.count) && !id.unicodeScalars.contains(where: \.isInvisible)
            && !isKeyLike(id) && !isBlank(id)
    }

    /// Whether `id` could be mistaken for a public key.
    package static func isKeyLike(_ id: String) -> Bool { DevicePublicKey.isBeginning(of: id) }

    /// Whether `id` could be mistaken for an empty line.
    package static func isBlank(_ id: String) -> Bool { id.utf8.allSatisfy { $0 == UInt8(ascii: " ") } }
}

/// The version of the app on a device, as reported by the app, for example `2.3.1`.
///
/// For the provider's statistics and for support only: it proves nothing, and no decision depends on it. Two versions
/// are equal if their bytes are; they have no order. (`Docs/FormatRecords.md`, Registration record)
public struct AppVersion: Hashable, Sendable, LosslessStringConvertible {
    /// The maximum length of a version in bytes of UTF-8.
    package static let maximumLength = 64

    /// The version as given.
    public let description: String

    /// Creates a version from 1 to 64 bytes without control characters; returns nil for anything else.
    public init?(_ description: String) {
        guard (1...Self.maximumLength).contains(description.utf8.count),
            !description.unicodeScalars.contains(where: \.isControl)
        else { return nil }
        self.description = description
    }

    /// Compares bytes; a string comparison would treat two spellings of an accented letter as equal.
    public static func == (a: AppVersion, b: AppVersion) -> Bool {
        a.description.utf8.elementsEqual(b.description.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}

/// Apple's environment of a device token.
public enum PushEnvironment: String, CaseIterable, Sendable {
    /// Of an app from the App Store, TestFlight or an enterprise.
    case production
    /// Of an app that Xcode has signed for development.
    case development
}

/// 16 bytes by which a device withdraws its registration without its key; as text 32 lower-case hexadecimal digits.
package struct WithdrawalCapability: Hashable, Sendable, LosslessStringConvertible {
    package static let length = 16

    package let bytes: ContiguousArray<UInt8>

    /// Creates a new one.
    package init() { bytes = Sodium.randomBytes(Self.length) }

    /// Parses 32 lower-case hexadecimal digits; returns nil for anything else.
    package init?(_ description: String) {
        guard description.utf8.count == 2 * Self.length, let bytes = ContiguousArray(lowerCaseHex: description) else {
            return nil
        }
        self.bytes = bytes
    }

    package var description: String { bytes.hex }

    /// Compares in constant time.
    package func isSame(as other: WithdrawalCapability) -> Bool { Sodium.areEqual(bytes.span, other.bytes.span) }
}

/// What a phone sends after a log-out, to end its device: it proves that it may, and needs no session.
/// (`Docs/FormatRecords.md`, Withdrawal of a device)
public struct DeviceWithdrawal: Hashable, Sendable {
    package let device: String
    package let capability: WithdrawalCapability

    package init(device: String, capability: WithdrawalCapability) {
        self.device = device
        self.capability = capability
    }

    /// Parses `{"device","withdrawal"}`, as the phone sent it.
    ///
    /// - Throws: `malformedRecord`.
    public init(json: ContiguousArray<UInt8>) throws(KeyError) {
        let record = try KeyRecord(json)
        guard let device = try record.deviceID(), let capability = try record.withdrawal() else {
            throw KeyError(.malformedRecord, "a withdrawal has a device and its withdrawal")
        }
        self.init(device: device, capability: capability)
    }

    /// Whether this is the capability of the device's record, compared in constant time.
    package func fits(_ capability: WithdrawalCapability?) -> Bool {
        capability.map(self.capability.isSame(as:)) ?? false
    }
}

extension DeviceRegistration {
    /// The maximum length of a device token in bytes.
    package static let maximumTokenLength = 100

    /// Whether a text is a device token as records have it. [D-27]
    package static func isToken(_ text: String) -> Bool {
        (2...2 * maximumTokenLength).contains(text.utf8.count) && ContiguousArray(lowerCaseHex: text) != nil
    }

    static let maximumGrantLength = 1024

    /// Whether a text is a grant as records have it. [D-30]
    package static func isGrant(_ text: String) -> Bool {
        (1...maximumGrantLength).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfBase64URL)
    }
}

extension KeyRecord {

    func token() throws(KeyError) -> String? {
        try text(
            "token",
            "an even number of 2 to \(2 * DeviceRegistration.maximumTokenLength) lower-case hexadecimal digits"
        ) { DeviceRegistration.isToken($0) }
    }

    func environment() throws(KeyError) -> PushEnvironment? {
        try text("environment", "production or development") { PushEnvironment(rawValue: $0) != nil }
            .flatMap(PushEnvironment.init)
    }

    func withdrawal() throws(KeyError) -> WithdrawalCapability? {
        try text("withdrawal", "\(2 * WithdrawalCapability.length) lower-case hexadecimal digits") {
            WithdrawalCapability($0) != nil
        }.flatMap(WithdrawalCapability.init)
    }

    func grant() throws(KeyError) -> String? {
        try text("grant", "1 to \(DeviceRegistration.maximumGrantLength) characters of base64url") {
            DeviceRegistration.isGrant($0)
        }
    }
}

/// The rules for a provider's name for a device, in records and in stores. (`Docs/FormatRecords.md`, D-20)
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

extension DeviceRegistration {
    /// The maximum length of a device token in bytes.
    package static let maximumTokenLength = 100

    /// Whether a text is a device token as records have it. [D-9]
    package static func isToken(_ text: String) -> Bool {
        (2...2 * maximumTokenLength).contains(text.utf8.count) && ContiguousArray(lowerCaseHex: text) != nil
    }

    static let maximumGrantLength = 1024

    /// Whether a text is a grant as records have it. [D-11]
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

    package func updateKey() throws(KeyError) -> SigningPublicKey? {
        try text("update_key").map(SigningPublicKey.init(text:))
    }

    func sequence() throws(KeyError) -> UInt64? {
        let sequence = try number("sequence")
        guard sequence.map({ 1..<DeviceEnd.sequence ~= $0 }) ?? true else {
            throw KeyError(.malformedRecord, "the record's sequence is not a number from 1 to 2^53 - 2")
        }
        return sequence
    }

    func nonce() throws(KeyError) -> RecordNonce? {
        try text("nonce", "22 characters of base64url") { RecordNonce($0) != nil }.flatMap(RecordNonce.init)
    }

    /// Whether the record ends its device.
    func isEnd() throws(KeyError) -> Bool {
        guard let isEnd = try flag("ended") else { return false }
        guard isEnd else { throw KeyError(.malformedRecord, "the record's ended is not true") }
        return true
    }

    func grant() throws(KeyError) -> String? {
        try text("grant", "1 to \(DeviceRegistration.maximumGrantLength) characters of base64url") {
            DeviceRegistration.isGrant($0)
        }
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// Where Apple delivers the pushes of a device: its token, and the environment in which the token is valid; or the grant with
/// which a relay does.
struct PushAddress: Sendable {
    /// In lower-case hexadecimal digits.
    var token: String?
    var environment: PushEnvironment?
    var grant: String?

    /// The form of a token, in words.
    static let tokenForm = "the device token, 2 to \(2 * DeviceRegistration.maximumTokenLength) hexadecimal digits"
    static let environmentForm = PushEnvironment.allCases.map(\.rawValue).joined(separator: " or ")

    /// Takes the provider's word over the record's. An environment belongs to its token.
    func replace(in registration: inout DeviceRegistration) {
        if let token {
            registration.token = token
            registration.environment = environment
        } else if let environment {
            registration.environment = environment
        }
    }

    /// Returns a token in the form in which records have it; nil if it is none.
    static func token(_ text: String) -> String? {
        let token = text.lowercased()
        return DeviceRegistration.isToken(token) ? token : nil
    }
}

extension PushAddress {
    init(_ device: DeviceRecord) {
        self.init(token: device.token, environment: device.environment, grant: device.grant)
    }

    /// The member with which `send --relay` names the device.
    static let grantName = "grant"

    /// Writes the grant.
    func writeGrant(to json: inout JSONWriter) {
        if let grant { json.string(grant, for: Self.grantName) }
    }

    /// Writes the members that `send` reads. A token of production needs no environment.
    func write(to json: inout JSONWriter) {
        guard let token else { return }
        json.string(token, for: "token")
        if environment == .development { json.string(PushEnvironment.development.rawValue, for: "environment") }
    }
}

// MARK: Lines

extension Line {
    /// Refuses a token, an environment or an APNs id that `send` cannot use.
    package func checkAddress() throws {
        _ = try read("token", "a device token in hexadecimal", \.deviceToken)
        _ = try read("environment", PushAddress.environmentForm) { $0.string.flatMap(PushEnvironment.init) }
        _ = try read("apns_id", "a UUID, 8-4-4-4-12 hexadecimal digits", \.uuid)
    }
}

extension JSONValue {
    /// Apple's tokens have 64 digits, and may grow.
    fileprivate var deviceToken: String? {
        string.flatMap { 1...400 ~= $0.utf8.count && $0.utf8.allSatisfy(Self.isHexadecimal) ? $0 : nil }
    }

    fileprivate var uuid: String? {
        guard let parts = string?.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false),
            parts.map(\.count) == [8, 4, 4, 4, 12], parts.joined().allSatisfy(Self.isHexadecimal)
        else { return nil }
        return string
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }
}

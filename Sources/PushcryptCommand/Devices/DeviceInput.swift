internal import Pushcrypt
internal import PushcryptCommandKit

/// What `device add` reads, and what each line of `device import` holds that is not from an export.
enum DeviceInput {
    static let maximumRecord = 1 << 16
    /// What `seal --to` takes for a key and not for an id.
    static let keyPrefix = DevicePublicKey.textPrefix
    /// The name in messages.
    static let name = "the device's key"

    /// Tells a registration record from a bare `pcr1…`.
    static func isRecord(_ bytes: ContiguousArray<UInt8>) -> Bool {
        bytes.first { !$0.isWhiteSpace } == UInt8(ascii: "{")
    }

    /// Reads a registration record, or a bare `pcr1…`.
    static func registration(_ bytes: ContiguousArray<UInt8>) throws(CommandFailure) -> DeviceRegistration {
        do throws(KeyError) {
            if isRecord(bytes) { return try DeviceRegistration(json: bytes) }
            let key = try DevicePublicKey(text: String(decoding: bytes, as: UTF8.self))
            return DeviceRegistration(publicKey: key, createdAt: nil)
        } catch {
            throw CommandFailure(error, in: name)
        }
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}

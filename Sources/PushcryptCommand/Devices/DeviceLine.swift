internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// One line of `device import`: what a phone has sent, and which device its provider takes it for.
///
///     {"device","user","record":{… a registration record …}}
///
/// The members of the line are the provider's words. What stands in the record is the phone's, who may write whatever it
/// likes: no member of it names a device or a user, or says when anything has happened here. So a provider that passes on
/// what it was sent gives no phone the place of another.
enum DeviceLine {
    /// The longest line in bytes.
    static let maximumLength = DeviceInput.maximumRecord

    /// Reads a line. Without `user` the device stays with whom it belongs to; null makes it nobody's.
    static func change(_ line: ContiguousArray<UInt8>, at now: Timestamp) throws(CommandFailure) -> DeviceChange {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(parsing: line).root
        } catch {
            throw malformed("it is not JSON: \(error)")
        }
        guard root.kind == .object else { throw malformed("it is not an object") }
        for name in ["public_key", "updated", "removed"] where root[name] != nil {
            throw malformed(
                "it has \(quoted(name)); what 'device export' wrote is read with --from-export, and what a phone has sent is the line's 'record'"
            )
        }
        guard let id = root["device"]?.string else {
            throw malformed("it has no 'device', what the provider calls the device")
        }
        let change = DeviceChange.registered(id: id, try registration(root["record"]), owner: try owner(root["user"]))
        try withStoreErrors { () throws(KeyStoreError) in try change.check(at: now) }
        return change
    }

    /// The record as an object or as the text of one, or the key alone.
    private static func registration(_ value: JSONValue?) throws(CommandFailure) -> DeviceRegistration {
        if let text = value?.string { return try DeviceInput.registration(ContiguousArray(text.utf8)) }
        guard let value, value.kind == .object else {
            throw malformed("it has no 'record', what the phone has sent")
        }
        do throws(KeyError) {
            return try DeviceRegistration(KeyRecord(value))
        } catch {
            throw CommandFailure(error, in: DeviceInput.name)
        }
    }

    private static func owner(_ value: JSONValue?) throws(CommandFailure) -> DeviceOwner {
        guard let value else { return .unchanged }
        if let user = value.string { return .user(user) }
        guard value.kind == .null else { throw malformed("its 'user' is neither a string nor null") }
        return .nobody
    }

    private static func malformed(_ what: String) -> CommandFailure {
        .refused("\(LineError.Code.malformedLine): this is no line of an import: \(what)")
    }
}

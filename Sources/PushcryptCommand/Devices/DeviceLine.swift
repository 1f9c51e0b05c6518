internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// One line of `device import` or `device add --batch`: a phone's registration record, and the provider's name for the device.
///
///     {"device","user","token","environment","record":{… a registration record, or a phone's post of one …}}
///
/// The line's members are the provider's. The record is the phone's, and the phone may write anything: no member of it is
/// used as the name of a device or user, or as a time here. A provider that passes records on unchecked lets no phone take
/// the place of another.
struct DeviceLine {
    /// The longest line in bytes.
    static let maximumLength = DeviceInput.maximumRecord

    let id: String
    let registration: DeviceRegistration
    /// The record as the phone has signed it, if it has.
    let signed: SignedRecord?
    let owner: DeviceOwner

    /// Reads the members of a line. Without `user` the device keeps its user; with null it has none.
    init(_ member: (String) -> JSONValue?) throws {
        guard let id = member("device")?.asName else {
            throw Self.malformed("it has no 'device', the provider's name for the device")
        }
        self.id = id
        var registration: DeviceRegistration
        (registration, signed) = try Self.record(member("record"))
        try DeviceInput.check(signed, isOf: id)
        try Self.address(member("token"), member("environment")).replace(in: &registration)
        self.registration = registration
        owner = try Self.owner(member("user"))
    }

    /// Reads a line of `device import`.
    static func change(_ line: ContiguousArray<UInt8>) throws -> DeviceChange {
        let root = try JSONValue(objectOf: line) { malformed($0) }
        for name in ["public_key", "updated", "removed"] where root["record"] == nil && root[name] != nil {
            throw malformed(
                "it has \(quoted(name)): import exports with --from-export; what the phone sent belongs in 'record'"
            )
        }
        let line = try DeviceLine { root[$0] }
        let change = DeviceChange.registered(id: line.id, line.registration, owner: line.owner)
        try change.check()
        return change
    }

    /// Reads a record, which may be an object, its text or a key alone.
    private static func record(_ value: JSONValue?) throws -> (DeviceRegistration, SignedRecord?) {
        if let text = value?.string { return try DeviceInput.record(ContiguousArray(text.utf8)) }
        guard let value, value.kind == .object else {
            throw malformed("it has no 'record', what the phone sent")
        }
        return try DeviceInput.record(value.minified())
    }

    private static func address(_ token: JSONValue?, _ environment: JSONValue?) throws -> PushAddress {
        var address = PushAddress()
        if let token, token.kind != .null {
            address.token = token.string.flatMap(PushAddress.token)
            guard address.token != nil else { throw malformed("its 'token' is not \(PushAddress.tokenForm)") }
        }
        if let environment, environment.kind != .null {
            address.environment = environment.string.flatMap(PushEnvironment.init)
            guard address.environment != nil else {
                throw malformed("its 'environment' is not \(PushAddress.environmentForm)")
            }
        }
        return address
    }

    private static func owner(_ value: JSONValue?) throws -> DeviceOwner {
        guard let value else { return .unchanged }
        if let user = value.asName { return .user(user) }
        guard value.kind == .null else { throw malformed("its 'user' is neither a string nor null") }
        return .nobody
    }

    private static func malformed(_ what: String) -> Failure {
        let code = LineCode.malformedLine
        return Failure(
            .refused, code: code.rawValue, reason: "not a valid line: \(what)",
            "\(code): not a valid import line: \(what)")
    }
}

extension JSONValue {
    /// Reads a line; throws what `malformed` makes of the reason why it is not an object.
    init(objectOf line: ContiguousArray<UInt8>, _ malformed: (String) -> Failure) throws {
        do { self = try JSONDocument(parsing: line).root } catch { throw malformed("it is not JSON: \(error)") }
        guard kind == .object else { throw malformed("it is not an object") }
    }
}

// MARK: Registrations

/// A device's registration record or public key, as `device add` and `device import` read it.
enum DeviceInput {
    static let maximumRecord = 1 << 16
    /// The name in messages.
    static let name = "the device's key"

    /// Whether the bytes are a registration record, not a bare `pcr1…` or `pcrx1…`.
    static func isRecord(_ bytes: ContiguousArray<UInt8>) -> Bool {
        bytes.first { !$0.isBlank } == UInt8(ascii: "{")
    }

    /// Reads a registration record, a phone's post of one, or a bare `pcr1…` or `pcrx1…`.
    static func record(_ given: ContiguousArray<UInt8>) throws -> (DeviceRegistration, SignedRecord?) {
        let bytes = given.withoutMarks
        if let post = try? KeyRecord(bytes), post.has("record") { return try posted(bytes) }
        return try naming(name) {
            if isRecord(bytes) { return (try DeviceRegistration(json: bytes), nil) }
            let key = try DevicePublicKey(text: String(decoding: bytes, as: UTF8.self))
            return (DeviceRegistration(publicKey: key, suites: [key.suite.rawValue], createdAt: nil), nil)
        }
    }

    private static func posted(_ bytes: ContiguousArray<UInt8>) throws -> (DeviceRegistration, SignedRecord?) {
        let post = try naming(name) { try PhonePost(json: bytes, over: .session) }
        guard case .record(let record) = post, case .registration(let registration) = record.content else {
            let text = "the phone ends its device: pushcrypt device accept takes that, without a session"
            throw Failure(.refused, code: KeyError.Code.malformedRecord.description, text)
        }
        return (registration, record)
    }

    /// Refuses a signed record under another name than its own.
    static func check(_ record: SignedRecord?, isOf id: String) throws {
        guard let record, !record.device.utf8.elementsEqual(id.utf8) else { return }
        throw Failure(
            KeyError(.malformedRecord, "the phone has signed that it is device \(quoted(record.device))"), in: name)
    }
}

extension ContiguousArray<UInt8> {
    /// The text without the mark that Windows programs write before UTF-8, and a key without the line break at its end.
    var withoutMarks: ContiguousArray<UInt8> {
        let text = starts(with: byteOrderMark) ? dropFirst(byteOrderMark.count) : self[...]
        if text.first == UInt8(ascii: "{") { return ContiguousArray(text) }
        let end = text.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? text.startIndex
        return ContiguousArray(text[..<end])
    }
}

extension Console {
    /// Reads a public key or a record, as editors of any system write it.
    func readRecord(_ file: String) throws -> ContiguousArray<UInt8> {
        try read(file, limit: DeviceInput.maximumRecord).withoutMarks
    }
}

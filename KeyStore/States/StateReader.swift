internal import Pushcrypt

/// An object of a stored value; a member of another kind is damage. What is read was authenticated, or is in the Keychain:
/// who can write that has the keys, so the import checks would protect nothing.
struct StateReader {
    private let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    func optional<R>(_ name: String, _ parse: (String) -> R?) throws(KeyStoreError) -> R? {
        guard let member = value[name] else { return nil }
        guard let result = member.string.flatMap(parse) else { throw .damagedState }
        return result
    }

    func text(_ name: String) throws(KeyStoreError) -> String? { try optional(name) { $0 } }

    func text(_ name: String) throws(KeyStoreError) -> String {
        guard let text: String = try text(name) else { throw .damagedState }
        return text
    }

    func number(_ name: String) throws(KeyStoreError) -> UInt64 {
        guard let member = value[name], let number = UInt64(String(decoding: member.written, as: UTF8.self)) else {
            throw .damagedState
        }
        return number
    }

    func time(_ name: String) throws(KeyStoreError) -> Timestamp? {
        value[name] == nil ? nil : Timestamp(milliseconds: try number(name))
    }

    func time(_ name: String) throws(KeyStoreError) -> Timestamp { Timestamp(milliseconds: try number(name)) }

    func flag(_ name: String) throws(KeyStoreError) -> Bool {
        guard let member = value[name] else { return false }
        guard let flag = member.bool else { throw .damagedState }
        return flag
    }

    func bytes(_ name: String) throws(KeyStoreError) -> Bytes? {
        try optional(name) { Base64URL.decode(Bytes($0.utf8).span) }
    }

    func bytes(_ name: String, _ length: Int) throws(KeyStoreError) -> Bytes? {
        guard let bytes = try bytes(name) else { return nil }
        guard bytes.count == length else { throw .damagedState }
        return bytes
    }

    func topic(_ name: String) throws(KeyStoreError) -> Topic? { try optional(name) { try? Topic($0) } }

    func deviceKey(_ name: String) throws(KeyStoreError) -> DevicePublicKey {
        guard let bytes = try bytes(name), CipherSuite.allCases.contains(where: { $0.publicKeyLength == bytes.count })
        else { throw .damagedState }
        return DevicePublicKey(checked: bytes)
    }

    func signingKey(_ name: String) throws(KeyStoreError) -> SigningPublicKey? {
        try bytes(name, SigningPublicKey.length).map(SigningPublicKey.init(checked:))
    }

    func providerKey(_ name: String) throws(KeyStoreError) -> ProviderPublicKey? {
        try bytes(name, ProviderPublicKey.length).map(ProviderPublicKey.init(checked:))
    }

    func providerKey(_ name: String) throws(KeyStoreError) -> ProviderPublicKey {
        guard let key: ProviderPublicKey = try providerKey(name) else { throw .damagedState }
        return key
    }

    func certificate(_ name: String) throws(KeyStoreError) -> Certificate? {
        try bytes(name, Certificate.length).map(Certificate.init(checked:))
    }

    func object<R>(_ name: String, _ read: (StateReader) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        guard let member = value[name] else { return nil }
        guard member.kind == .object else { throw .damagedState }
        return try read(StateReader(member))
    }

    func list<R>(_ name: String, _ read: (StateReader) throws(KeyStoreError) -> R) throws(KeyStoreError) -> [R] {
        guard let member = value[name] else { return [] }
        guard member.kind == .array else { throw .damagedState }
        var list: [R] = []
        for element in member.elements { list.append(try read(StateReader(element))) }
        return list
    }

    func raw(_ name: String) -> Bytes? { value[name]?.minified() }
}

extension JSONWriter {
    mutating func text(_ text: String?, for name: String) {
        if let text { string(text, for: name) }
    }

    mutating func bytes(_ bytes: Bytes?, for name: String) {
        if let bytes { string(Base64URL.string(bytes.span), for: name) }
    }

    mutating func time(_ time: Timestamp?, for name: String) {
        if let time { integer(time.milliseconds, for: name) }
    }

    mutating func flag(_ flag: Bool, for name: String) {
        if flag { bool(true, for: name) }
    }

    mutating func list<Element>(
        _ elements: [Element], for name: String, _ write: (Element, inout JSONWriter) -> Void
    ) {
        guard !elements.isEmpty else { return }
        array(for: name) { json in for element in elements { write(element, &json) } }
    }
}

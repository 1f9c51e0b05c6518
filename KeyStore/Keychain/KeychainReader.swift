internal import Pushcrypt

extension Bytes {
    /// Appends at most 255 bytes, the maximum for names and topics; none for nil.
    mutating func append(text: String?) {
        let bytes = Bytes((text ?? "").utf8)
        append(UInt8(truncatingIfNeeded: bytes.count))
        self += bytes
    }
}

/// Parses a table; anything missing or of the wrong kind is damage.
struct KeychainReader {
    private let bytes: Bytes
    private var position = 0

    /// Whether everything was read.
    var isAtEnd: Bool { position == bytes.count }

    init(_ bytes: Bytes) { self.bytes = bytes }

    mutating func bytes(_ count: Int) throws(KeyStoreError) -> Bytes {
        guard count <= bytes.count - position else { throw KeychainContents.damaged }
        defer { position += count }
        return Bytes(bytes[position..<position + count])
    }

    mutating func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(KeyStoreError) -> Number {
        try bytes(Number.bitWidth / 8).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func time() throws(KeyStoreError) -> Timestamp { Timestamp(milliseconds: try integer()) }

    mutating func optionalText() throws(KeyStoreError) -> String? {
        let count = Int(try integer(UInt8.self))
        return count == 0 ? nil : String(decoding: try bytes(count), as: UTF8.self)
    }

    mutating func name() throws(KeyStoreError) -> String {
        guard let name = try optionalText(), StoreName.isAllowed(name) else { throw KeychainContents.damaged }
        return name
    }

    mutating func topic() throws(KeyStoreError) -> Topic? {
        guard let text = try optionalText() else { return nil }
        guard let topic = try? Topic(text) else { throw KeychainContents.damaged }
        return topic
    }

    /// Anyone who can write the Keychain has the device's keys as well, so the import check would protect nothing.
    mutating func providerKey() throws(KeyStoreError) -> ProviderPublicKey {
        ProviderPublicKey(checked: try bytes(ProviderPublicKey.length))
    }
}

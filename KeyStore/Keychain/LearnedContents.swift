internal import Pushcrypt

/// The contents of the Keychain item with what a device has learned of its providers.
///
/// It is a separate item, because it outlives the keys and pins of every account.
struct LearnedContents: KeychainItemContents {
    static let account = "learned"

    /// Numbered from 1, in this order; none is ever removed.
    var rows: [LearnedTrustRow] = []
}

/// The data of the item; big-endian.
///
///     1    version, 0x01
///     16   revision: random, new for each change
///     n    rows: 32 bytes provider key; text topic; 121 bytes certificate; u32 floor
///     32   SHA-256 of all the preceding bytes: distinguishes damage from a newer form
extension LearnedContents {
    static let version: UInt8 = 1
    private static let headLength = 1 + KeychainItem.revisionLength

    static func parse(_ data: Span<UInt8>) throws(KeyStoreError) -> (contents: LearnedContents, revision: Bytes) {
        let end = data.count - SHA256.digestLength
        guard end >= headLength else { throw damaged }
        guard data[0] <= version else {
            throw KeyStoreError(
                .newerVersion, "the trust in the Keychain was written by a newer version of the app: update the app")
        }
        let digest = SHA256.digest(data.extracting(0..<end))
        guard data[0] == version, Sodium.areEqual(digest.span, data.extracting(end..<data.count)) else { throw damaged }
        let revision = Bytes(copying: data.extracting(1..<headLength))
        var reader = KeychainReader(Bytes(copying: data.extracting(headLength..<end)))
        var contents = LearnedContents()
        while !reader.isAtEnd { contents.rows.append(try reader.learned(number: Int64(contents.rows.count + 1))) }
        let names = contents.rows.map { $0.provider.bytes + Bytes($0.topic.bundleID.utf8) }
        guard Set(names).count == names.count else { throw damaged }
        return (contents, revision)
    }

    func data(revision: Bytes) -> KeychainSecret {
        var data: Bytes = [Self.version]
        data += revision
        for row in rows {
            guard let certificate = row.trust.certificate else { continue }
            data += row.provider.bytes
            data.append(text: row.topic.bundleID)
            data += certificate.bytes
            data.append(bigEndian: row.trust.floor)
        }
        data += SHA256.digest(data.span)
        return KeychainSecret(SecretBytes(copying: data.span))
    }

    private static var damaged: KeyStoreError {
        KeyStoreError(
            .corruptStore,
            "the Keychain item with what was learned of providers is damaged and is not used: the app must delete it with purgeEverything, and register again"
        )
    }
}

extension KeychainReader {
    fileprivate mutating func learned(number: Int64) throws(KeyStoreError) -> LearnedTrustRow {
        let provider = try providerKey()
        guard let topic = try topic() else { throw KeychainContents.damaged }
        let bytes = try bytes(Certificate.length)
        guard let certificate = try? Certificate(bytes: bytes.span) else { throw KeychainContents.damaged }
        let floor = try integer(UInt32.self)
        let trust = LearnedTrust(certificate, floor: floor)
        guard trust.floor == floor else { throw KeychainContents.damaged }
        return LearnedTrustRow(id: number, provider: provider, topic: topic, trust: trust)
    }
}

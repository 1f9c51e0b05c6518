internal import Pushcrypt

/// The rules for names of keys, accounts, devices and users.
package enum StoreName {
    static let maximumLength = 255

    /// Throws `invalidName` for an invalid name; `what` names it in the error.
    package static func check(_ name: String, _ what: StaticString) throws(KeyStoreError) {
        guard isAllowed(name) else {
            throw KeyStoreError(
                .invalidName, "\(what) must have 1 to \(maximumLength) bytes, and no control or invisible characters")
        }
    }

    /// Throws `invalidName` for an invalid device id; also for one that looks like a key, or is blank.
    static func checkDeviceID(_ id: String) throws(KeyStoreError) {
        try check(id, "a device id")
        guard !DeviceID.isKeyLike(id) else {
            throw KeyStoreError(
                .invalidName,
                "a device id must not begin with \(DevicePublicKey.textPrefixes.joined(separator: " or ")), as public keys do: choose another id"
            )
        }
        guard !DeviceID.isBlank(id) else {
            throw KeyStoreError(.invalidName, "a device id must not consist of spaces only: choose another id")
        }
    }

    static func isAllowed(_ name: String) -> Bool {
        (1...maximumLength).contains(name.utf8.count)
            && !name.unicodeScalars.contains(where: \.isInvisible)
    }

    /// Compares bytes, as the database does: to Swift, two spellings of an accented letter are equal.
    static func areEqual(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
}

extension String {
    /// Creates the text of these bytes; nil if they are not UTF-8, because a repaired text would stand for other bytes.
    init?(exactly bytes: Bytes) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}

internal import Pushcrypt

/// What keys, senders, devices and settings may be called.
package enum StoreName {
    static let maximumLength = 255

    /// Throws `invalidName` for what no name is.
    package static func check(_ name: String, _ what: StaticString) throws(KeyStoreError) {
        guard isAllowed(name) else {
            throw KeyStoreError(
                .invalidName, "\(what) has 1 to \(maximumLength) bytes and no control characters; this one does not")
        }
    }

    /// Throws `invalidName` for what no device is called: also for a name that would pass for a key, or for an empty line.
    static func checkDeviceID(_ id: String) throws(KeyStoreError) {
        try check(id, "a device id")
        guard !DeviceID.isKeyLike(id) else {
            throw KeyStoreError(
                .invalidName,
                "a device id does not begin with \(DevicePublicKey.textPrefix), as a public key does; name the device otherwise"
            )
        }
        guard !DeviceID.isBlank(id) else {
            throw KeyStoreError(.invalidName, "a device id has more in it than spaces; name the device otherwise")
        }
    }

    static func isAllowed(_ name: String) -> Bool {
        (1...maximumLength).contains(name.utf8.count)
            && !name.unicodeScalars.contains(where: \.isControl)
    }

    /// Compares bytes, as the database does: Swift takes two spellings of one accented letter for the same.
    static func areEqual(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
}

extension String {
    /// The text of these bytes, or nil if they are not UTF-8: a repaired text would stand for other bytes.
    init?(exactly bytes: Bytes) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}

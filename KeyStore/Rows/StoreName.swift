internal import Pushcrypt

/// What keys, senders, devices and settings may be called.
enum StoreName {
    static let maximumLength = 255

    static func check(_ name: String, _ what: StaticString) throws(KeyStoreError) {
        guard isAllowed(name) else {
            throw KeyStoreError(
                .invalidName, "\(what) has 1 to \(maximumLength) bytes and no control characters; this one does not")
        }
    }

    static func isAllowed(_ name: String) -> Bool {
        (1...maximumLength).contains(name.utf8.count)
            && !name.unicodeScalars.contains(where: \.isControl)
    }

    /// Compares bytes, as the database does: Swift takes two spellings of one accented letter for the same.
    static func areEqual(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
}

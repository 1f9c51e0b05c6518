/// Whose a device is once it has registered.
public enum DeviceOwner: Hashable, Sendable {
    /// Whoever's it was before.
    case unchanged
    /// Nobody's.
    case nobody
    /// The user's with this name, 1 to 255 bytes without control characters.
    case user(String)
}

extension DeviceOwner {
    func check() throws(KeyStoreError) {
        guard case .user(let name) = self else { return }
        try StoreName.check(name, "a user id")
    }

    func user(after old: String?) -> String? {
        switch self {
        case .unchanged: old
        case .nobody: nil
        case .user(let name): name
        }
    }
}

#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// libsodium as a whole: its one-time start, its random source and its constant-time helpers.
package enum Sodium {
    /// Starts libsodium once per process; every wrapper reads it before its first call.
    ///
    /// A failure means the system has no random source. Nothing can be done safely then, so it traps.
    static let started: Void = {
        precondition(sodium_init() >= 0, "libsodium could not start: the system has no random source")
    }()

    /// The version of the library that is linked, for example `1.0.18`.
    package static var version: String {
        guard let text = unsafe sodium_version_string() else { return "unknown" }
        return unsafe String(cString: text)
    }
}

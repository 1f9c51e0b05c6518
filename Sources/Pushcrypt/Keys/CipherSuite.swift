/// A cipher suite of the format. A device's key belongs to one. (`Docs/Format.md`, Envelope)
///
/// Both are HPKE's base mode with HKDF-SHA256 and ChaCha20-Poly1305, with a signature by Ed25519 inside; they differ in the
/// KEM.
public enum CipherSuite: UInt8, CaseIterable, Comparable, Sendable {
    /// Suite 0x01: X25519.
    case x25519 = 0x01
    /// Suite 0x02: X-Wing, which is ML-KEM-768 and X25519 together. What was sealed under it stays private if a quantum
    /// computer reads a recording of it.
    case xwing = 0x02

    /// Whether this build can seal and open with the suite: X-Wing needs libsodium 1.0.22 or later.
    public var isSupported: Bool { self == .x25519 || XWing.isAvailable }

    /// The suites that this build can seal and open with, in ascending order.
    package static var supported: [CipherSuite] { allCases.filter(\.isSupported) }

    /// The length of a device's public key in bytes.
    package var publicKeyLength: Int { self == .x25519 ? X25519.keyLength : XWing.publicKeyLength }

    /// The length of the KEM share in an envelope.
    var encLength: Int { self == .x25519 ? X25519.keyLength : XWing.encLength }

    /// The text of the error for an unsupported suite.
    package static let requirement =
        "suite 2 (post-quantum) needs libsodium 1.0.22 or later, in this build and on this system; this is \(Sodium.version)"

    /// A later suite is stronger.
    public static func < (a: CipherSuite, b: CipherSuite) -> Bool { a.rawValue < b.rawValue }
}

import BareCalls

/// Where the time of one seal goes: the libsodium calls by kind, each kind alone.
enum PartsBench {
    private static let parts: [(what: String, kind: bare_part_kind)] = [
        ("X25519, the ephemeral public key", BARE_BASE), ("X25519, the shared secret", BARE_EXCHANGE),
        ("Ed25519, the signature", BARE_SIGNATURE), ("HMAC-SHA256, 10", BARE_HMACS), ("SHA-256, 3", BARE_HASHES),
        ("ChaCha20-Poly1305", BARE_CIPHER), ("random bytes, 2 of 32", BARE_RANDOM), ("base64url", BARE_TEXT),
    ]

    /// Prints a line for each kind, and one for the whole of them.
    static func printRows() throws {
        let seed = [UInt8](0..<32)
        let scalar = [UInt8](32..<64)
        let bare = try BareCaller(seed: seed, scalar: scalar, topic: "com.example.app")
        var total = 0.0
        for (what, kind) in parts {
            let blocks = (0..<50).map { _ in nanoseconds(200) { bare.make(kind) } }
            let microseconds = best(blocks) / 1000
            total += microseconds
            printRow(what, microseconds)
        }
        printRow("together", total)
    }

    private static func printRow(_ what: String, _ microseconds: Double) {
        let tenths = Int((microseconds * 10).rounded())
        let number = "\(tenths / 10).\(tenths % 10)"
        let gap = String(repeating: " ", count: max(1, 44 - what.count - number.count))
        print("\(what)\(gap)\(number) µs")
    }
}

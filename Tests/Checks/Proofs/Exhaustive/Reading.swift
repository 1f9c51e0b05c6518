import Pushcrypt

/// The expected code for the changed text of a genuine envelope: steps 2 to 4 of opening in `Docs/Format.md`, by its rules alone.
struct Reading {
    private static let buckets = [256, 512, 1024, 1536, 2048, 2560, 2816, 3584]
    private static let overhead = 53
    private static let longestText = 4850

    /// The genuine envelope, sealed to the one key that the receiver has.
    let genuine: [UInt8]

    /// The code that is demanded, or nil where the envelope opens.
    func code(of text: [UInt8]) -> OpenError.Code? {
        // O-2.1 to O-2.3
        guard (1...Self.longestText).contains(text.count), let bytes = Base64.decode(text) else {
            return .malformedEnvelope
        }
        // O-2.4, before the length
        guard bytes[0] == 0x01 else { return .unsupportedSuite }
        // O-2.5
        guard Self.buckets.contains(bytes.count - Self.overhead) else { return .malformedEnvelope }
        // O-3.1
        guard bytes[1..<5] == genuine[1..<5] else { return .unknownRecipientKey }
        // O-4.2, O-4.3: every other byte is under the tag, or makes another key.
        return bytes == genuine ? nil : .authenticationFailed
    }
}

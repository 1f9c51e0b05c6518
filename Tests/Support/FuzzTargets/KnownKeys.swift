import Pushcrypt

/// Keys that are the same in every run, so that an input means the same in every run; none of them is used anywhere else.
enum KnownKeys {
    static let topic = known { () throws(InvalidTopic) in try Topic("com.example.app") }
    static let otherTopic = known { () throws(InvalidTopic) in try Topic("com.example.other") }
    /// 2026-01-01 00:00:00 UTC and five seconds.
    static let now = Timestamp(milliseconds: 1_767_225_605_000)

    static let device = deviceKey(0x11)
    static let otherDevice = deviceKey(0x12)
    /// A key of suite 2, where libsodium has X-Wing.
    static let postQuantum = CipherSuite.xwing.isSupported ? deviceKey(0x13, .xwing) : nil
    /// All three, without the last where there is none.
    static let devices = [device, otherDevice] + (postQuantum.map { [$0] } ?? [])

    /// A provider key for each number.
    static func provider(_ number: UInt8) -> ProviderKey {
        let seed = Bytes(repeating: 0x20 &+ number, count: 32)
        return known { () throws(KeyError) in try ProviderKey(seed: seed.span) }
    }

    /// A signing key for each number.
    static func signing(_ number: UInt8) -> SigningKey {
        let seed = Bytes(repeating: 0x40 &+ number, count: 32)
        return known { () throws(KeyError) in try SigningKey(seed: seed.span) }
    }

    /// The bytes of the first device key's secret.
    static let deviceScalar = Bytes(repeating: 0x11, count: 32)

    private static func deviceKey(_ byte: UInt8, _ suite: CipherSuite = .x25519) -> DeviceKey {
        let scalar = Bytes(repeating: byte, count: 32)
        return known { () throws(KeyError) in try DeviceKey(scalar: scalar.span, suite) }
    }

    /// Unwraps a result that cannot fail for the literals here.
    static func known<R, E: Error>(_ make: () throws(E) -> R) -> R {
        do throws(E) { return try make() } catch { fail("a known value is right: \(error)") }
    }
}

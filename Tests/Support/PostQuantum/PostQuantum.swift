import Pushcrypt
public import Testing

extension Trait where Self == ConditionTrait {
    /// The test needs libsodium with X-Wing; where there is none, it is skipped loudly.
    public static var postQuantum: ConditionTrait {
        .enabled(if: isThere, "suite 2 needs libsodium 1.0.22: make nightly PART=post-quantum")
    }
}

private let isThere: Bool = {
    if !CipherSuite.xwing.isSupported {
        print("SKIPPED: suite 2 needs libsodium 1.0.22: make nightly PART=post-quantum")
    }
    return CipherSuite.xwing.isSupported
}()

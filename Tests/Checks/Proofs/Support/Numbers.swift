import Glibc

/// SplitMix64: the same numbers for the same seed. None of them becomes a real key.
struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    /// The numbers of one case of a run, independent of all others.
    init(seed: UInt64, case number: UInt64 = 0) {
        state = seed
        state = next() ^ number
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }

    /// A number below `limit`.
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}

extension Numbers {
    /// The value of SEED; otherwise random. It is printed in any case, so that a run can be repeated.
    static func chosenSeed() -> UInt64 {
        let chosen = unsafe getenv("SEED").flatMap { unsafe UInt64(String(cString: $0)) }
        let seed = chosen ?? UInt64.random(in: 1...1_000_000_000)
        print("SEED=\(seed)")
        return seed
    }
}

import Pushcrypt
import Testing

/// Comparison, zero check and randomness.
@Suite struct SodiumHelperTests {
    private static func areEqual(_ a: Bytes, _ b: Bytes) -> Bool { Sodium.areEqual(a.span, b.span) }
    private static func isAllZero(_ bytes: Bytes) -> Bool { Sodium.isAllZero(bytes.span) }

    @Test func bytesAreEqualOnlyWhenEveryBitIs() {
        let bytes = Bytes(0..<70)
        #expect(Self.areEqual(bytes, Bytes(0..<70)))
        for changed in bytes.withEachBitFlipped { #expect(!Self.areEqual(bytes, changed)) }
        for count in 0..<bytes.count {
            #expect(!Self.areEqual(bytes, Bytes(bytes.prefix(count))))
            #expect(!Self.areEqual(Bytes(bytes.prefix(count)), bytes))
        }
    }

    @Test func noBytesEqualNoBytes() {
        #expect(Self.areEqual([], []))
        #expect(!Self.areEqual([], [0]))
    }

    /// libsodium's headers want a pointer even to no bytes; a span of nothing has none.
    @Test func aSpanOfNothingIsNoBytes() {
        let nothing = Span<UInt8>()
        let (none, zero) = (Bytes(), Bytes([0]))
        let results = [
            Sodium.areEqual(nothing, none.span), Sodium.areEqual(nothing, zero.span), Sodium.isAllZero(nothing),
        ]
        #expect(results == [true, false, true])
    }

    @Test func allZeroMeansEveryBitOfEveryByte() {
        for count in [0, 1, 31, 32, 33] {
            let zeros = Bytes(repeating: 0, count: count)
            #expect(Self.isAllZero(zeros))
            for changed in zeros.withEachBitFlipped { #expect(!Self.isAllZero(changed)) }
        }
    }

    /// A comparison that ends at the first difference would take a hundred thousandth of the time for the first byte.
    @Test(arguments: [false, true]) func theTimeDoesNotShowWhereTheDifferenceIs(_ isEquality: Bool) {
        let zeros = Bytes(repeating: 0, count: Self.long)
        func least(differingAt place: Int) -> Double {
            var bytes = zeros
            bytes[place] = 1
            let times = (0..<9).map { _ in
                let start = processorSeconds()
                let holds = isEquality ? Self.areEqual(bytes, zeros) : Self.isAllZero(bytes)
                #expect(!holds)
                return processorSeconds() - start
            }
            return times.min() ?? 0
        }
        let (first, last) = (least(differingAt: 0), least(differingAt: Self.long - 1))
        #expect(first > last / 3 && last > first / 3, "\(first) and \(last) seconds")
    }

    private static let long = 4 << 20

    @Test(arguments: [0, 1, 32, 1000])
    func randomBytesHaveTheLengthAskedFor(_ count: Int) {
        #expect(Sodium.randomBytes(count).count == count)
    }

    /// Good randomness fails this once in 2^112 runs: 256 places, each the same in 16 draws with probability 2^-120.
    @Test func randomBytesChangeInEveryPlace() {
        let draws = (0..<16).map { _ in
            var filled = Bytes(repeating: 0, count: 64)
            unsafe filled.withUnsafeMutableBufferPointer { buffer in
                var bytes = unsafe MutableBytes(buffer)
                Sodium.fillRandom(&bytes)
            }
            return (
                filled, Sodium.randomBytes(64), Ephemeral(randomCount: 64).bytes, SecretBytes(randomCount: 64).bytes
            )
        }
        for place in 0..<64 {
            #expect(Set(draws.map { $0.0[place] }).count > 1)
            #expect(Set(draws.map { $0.1[place] }).count > 1)
            #expect(Set(draws.map { $0.2[place] }).count > 1)
            #expect(Set(draws.map { $0.3[place] }).count > 1)
        }
    }

    @Test func versionIsThatOfALibraryNewEnough() {
        let numbers = Sodium.version.split(separator: ".").compactMap { Int($0) }
        #expect(numbers.count == 3)
        #expect(!numbers.lexicographicallyPrecedes([1, 0, 18]), "libsodium \(Sodium.version)")
    }
}

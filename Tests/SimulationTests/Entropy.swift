import CSodium
import Seed

/// libsodium's random numbers, from a seed: keys and ids, and the order of things sorted by them, are the same in each run. It
/// replaces those of the whole process, which should do nothing else.
enum Entropy {
    private nonisolated(unsafe) static var seed = Seed(0)
    private nonisolated(unsafe) static var implementation = unsafe randombytes_implementation(
        implementation_name: { nil }, random: { UInt32(truncatingIfNeeded: Entropy.next()) }, stir: {},
        uniform: nil, buf: { bytes, count in unsafe Entropy.fill(bytes, count) }, close: { 0 })

    static func start(_ number: UInt64) {
        unsafe seed = Seed(number ^ 0x5EED)
        unsafe randombytes_set_implementation(&implementation)
    }

    private static func next() -> UInt64 { unsafe seed.next() }

    private static func fill(_ bytes: UnsafeMutableRawPointer?, _ count: Int) {
        guard let bytes = unsafe bytes else { return }
        for index in 0..<count {
            unsafe bytes.storeBytes(of: UInt8(truncatingIfNeeded: next() >> 24), toByteOffset: index, as: UInt8.self)
        }
    }
}

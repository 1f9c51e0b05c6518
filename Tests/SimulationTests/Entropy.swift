import CSodium
import Seed

/// libsodium's random numbers from a seed, so that keys, ids and what is sorted by them are the same in each run: simpler than
/// keeping them out of every decision and trace. Only for a process that does nothing else, because it replaces those of the whole
/// process.
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

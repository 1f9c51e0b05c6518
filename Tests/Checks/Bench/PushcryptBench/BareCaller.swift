import BareCalls
import Pushcrypt

/// The yardstick behind a Swift face: the same keys, and buffers that are allocated once.
final class BareCaller {
    private var keys = bare_keys()
    /// The same keys, with other devices.
    private var others: [bare_keys] = []
    private var text = [CChar](repeating: 0, count: BARE_MAXIMUM_TEXT)
    private var payload = [UInt8](repeating: 0, count: BARE_MAXIMUM_PAYLOAD)

    init(_ suite: CipherSuite = .x25519, seed: [UInt8], scalar: [UInt8], topic: String) throws(BenchFailure) {
        guard unsafe bare_make_keys(&keys, CInt(suite.rawValue), seed, scalar, topic) == 0 else {
            throw BenchFailure(what: "self-check: the bare calls take no key")
        }
    }

    /// Makes the keys of 256 other devices.
    func makeOthers(_ suite: CipherSuite, seed: [UInt8], topic: String) throws(BenchFailure) {
        for number in UInt8.min...UInt8.max {
            let other = try BareCaller(suite, seed: seed, scalar: seed.map { $0 ^ number }, topic: topic)
            others.append(other.keys)
        }
    }

    /// Seals to another device.
    func seal(_ payload: [UInt8], toOther number: Int, at time: Timestamp) -> Int {
        unsafe bare_seal(&others[number % others.count], payload, payload.count, time.milliseconds, &text)
    }

    /// Seals, and gives the length of the text.
    func seal(_ payload: [UInt8], at time: Timestamp) -> Int {
        unsafe bare_seal(&keys, payload, payload.count, time.milliseconds, &text)
    }

    /// Opens a text, and gives the length of the payload.
    func open(_ text: [CChar]) -> Int {
        unsafe bare_open(&keys, text, text.count, &payload)
    }

    /// The first characters of what was sealed last.
    func sealed(_ count: Int) -> [UInt8] { text[0..<count].map { UInt8(bitPattern: $0) } }

    /// The first bytes of what was opened last.
    func opened(_ count: Int) -> [UInt8] { Array(payload[0..<count]) }
}

import CSodium

/// Replaces libsodium's generator by one that always gives the same byte, like a machine with a dead random source.
enum ConstantSource {
    /// Only before libsodium has started: it asks its first generator for nothing then.
    static func install() {
        let implementation = UnsafeMutablePointer<randombytes_implementation>.allocate(capacity: 1)
        unsafe implementation.initialize(
            to: randombytes_implementation(
                implementation_name: {
                    unsafe UnsafeRawPointer(("constant" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
                },
                random: { 0x2a2a_2a2a }, stir: nil, uniform: { _ in 0 },
                buf: { bytes, count in unsafe bytes?.initializeMemory(as: UInt8.self, repeating: 0x2a, count: count) },
                close: { 0 }))
        unsafe randombytes_set_implementation(implementation)
    }
}

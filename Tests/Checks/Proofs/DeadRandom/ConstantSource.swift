import CSodium

/// Puts a generator in the place of libsodium's that gives the same byte for ever, as a machine does whose random source is dead.
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

#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// Key derivation for stores: a key from a passphrase (Argon2id), and subkeys of a store key (libsodium's
/// `crypto_kdf`).
package enum StoreKDF {
    package static let keyLength = 32
    package static let saltLength = 16

    /// The cost of deriving a key from a passphrase.
    ///
    /// A file states its own cost, so it is limited: a hostile file must not exhaust the machine.
    package struct Cost: Hashable, Sendable {
        /// The number of passes over the memory, 1…8.
        package let passes: UInt64
        /// The memory in bytes, 8 KiB…512 MiB.
        package let memory: Int

        package static let standard = Cost(uncheckedPasses: 3, memory: 256 << 20)

        package init?(passes: UInt64, memory: Int) {
            guard (1...8).contains(passes), (8 << 10...512 << 20).contains(memory) else { return nil }
            self.init(uncheckedPasses: passes, memory: memory)
        }

        private init(uncheckedPasses passes: UInt64, memory: Int) {
            self.passes = passes
            self.memory = memory
        }
    }

    /// Derives a store key from a passphrase; throws if the memory cannot be allocated.
    package static func key(
        passphrase: Span<UInt8>, salt: Span<UInt8>, cost: Cost
    ) throws(SodiumRefusal) -> SecretBytes {
        guard salt.count == saltLength else { throw SodiumRefusal() }
        _ = Sodium.started
        return try SecretBytes(count: keyLength) { (output) throws(SodiumRefusal) in
            let code = unsafe output.withMutableBase { key, _ in
                unsafe passphrase.withBase { text, count in
                    unsafe salt.withBase { salt, _ in
                        unsafe crypto_pwhash(
                            key, UInt64(keyLength), text, UInt64(count), salt, cost.passes, cost.memory,
                            crypto_pwhash_alg_argon2id13())
                    }
                }
            }
            guard code == 0 else { throw SodiumRefusal() }
        }
    }

    /// Derives one of the independent subkeys of a store key; `context` has exactly 8 bytes.
    package static func subkey(_ number: UInt64, context: StaticString, of key: borrowing SecretBytes) -> SecretBytes {
        subkeys(number...number, context: context, of: key)
    }

    /// Some of the independent sub-keys of a store key, one after the other in one allocation; `context` has exactly 8 bytes.
    package static func subkeys(
        _ numbers: ClosedRange<UInt64>, context: StaticString, of key: borrowing SecretBytes
    ) -> SecretBytes {
        precondition(key.count == keyLength)
        return SecretBytes(count: numbers.count * keyLength) { output in
            key.withSpan { key in
                unsafe output.withMutableBase { base, _ in
                    unsafe key.withBase { key, _ in unsafe derive(numbers, context, of: key, to: base) }
                }
            }
        }
    }

    private static func derive(
        _ numbers: ClosedRange<UInt64>, _ context: StaticString, of key: UnsafePointer<UInt8>,
        to output: UnsafeMutablePointer<UInt8>
    ) {
        precondition(context.utf8CodeUnitCount == Int(crypto_kdf_contextbytes()))
        _ = Sodium.started
        unsafe context.utf8Start.withMemoryRebound(to: CChar.self, capacity: context.utf8CodeUnitCount) { context in
            for (index, number) in numbers.enumerated() {
                let subkey = unsafe output + index * keyLength
                Sodium.expectSuccess(unsafe crypto_kdf_derive_from_key(subkey, keyLength, number, context, key))
            }
        }
    }
}

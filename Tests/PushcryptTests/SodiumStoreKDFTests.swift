import Foundation
import Pushcrypt
import Testing

#if os(Linux)
    import Glibc
#endif

/// Argon2id and the sub-keys of a store key.
@Suite struct SodiumStoreKDFTests {
    private static let salt = Bytes(0...15)

    private static func key(_ passphrase: String, salt: Bytes = salt, passes: UInt64, memory: Int) throws -> Bytes {
        let cost = try #require(StoreKDF.Cost(passes: passes, memory: memory))
        return try StoreKDF.key(passphrase: Bytes(passphrase.utf8).span, salt: salt.span, cost: cost).bytes
    }

    /// Made with PyNaCl's `nacl.pwhash.argon2id.kdf`.
    @Test(
        arguments: [
            (
                "correct horse battery staple", 3, 8 << 20,
                "947312f62e4ac86f63c9b622f147b0061846739f53dd00f2d2236cd03db413ac"
            ),
            ("", 1, 8 << 10, "31ed41e2d73f27fdfe4eb4bec651341e58ba43477051c6fe4adad735d82ee08a"),
        ] as [(String, UInt64, Int, Hex)])
    func keyOfAPassphraseIsThatOfPyNaCl(passphrase: String, passes: UInt64, memory: Int, key: Hex) throws {
        #expect(try Self.key(passphrase, passes: passes, memory: memory) == key.bytes)
    }

    @Test func keyDependsOnEverything() throws {
        let keys = try [
            Self.key("a", passes: 1, memory: 8 << 10),
            Self.key("A", passes: 1, memory: 8 << 10),
            Self.key("a\0", passes: 1, memory: 8 << 10),
            Self.key("a", passes: 2, memory: 8 << 10),
            Self.key("a", passes: 1, memory: 16 << 10),
            Self.key("a", salt: Bytes(1...16), passes: 1, memory: 8 << 10),
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test(arguments: [0, 15, 17, 32])
    func saltOfAnotherLengthIsRefused(_ count: Int) {
        #expect(throws: SodiumRefusal.self) {
            try Self.key("a", salt: Bytes(repeating: 0, count: count), passes: 1, memory: 8 << 10)
        }
    }

    @Test(
        arguments: [
            (0, 8 << 10, false), (1, 8 << 10, true), (8, 8 << 10, true), (9, 8 << 10, false), (.max, 8 << 10, false),
            (1, (8 << 10) - 1, false), (1, 512 << 20, true), (1, (512 << 20) + 1, false),
            (1, 0, false), (1, -1, false), (1, .min, false), (1, .max, false),
        ] as [(UInt64, Int, Bool)])
    func costIsBounded(passes: UInt64, memory: Int, isAllowed: Bool) {
        let cost = StoreKDF.Cost(passes: passes, memory: memory)
        #expect((cost != nil) == isAllowed)
        if let cost { #expect((cost.passes, cost.memory) == (passes, memory)) }
    }

    #if os(Linux)
        @Test func withoutTheMemoryThereIsNoKeyAndNotOneOfZeros() async {
            await #expect(processExitsWith: .success) {
                let statistics = try #require(try FileHandle(forReadingAtPath: "/proc/self/statm")?.readToEnd())
                let pages = try #require(String(decoding: statistics, as: UTF8.self).split(separator: " ").first)
                let limit = try #require(rlim_t(pages)) * rlim_t(sysconf(Int32(_SC_PAGESIZE))) + 64 << 20
                var limits = rlimit(rlim_cur: limit, rlim_max: limit)
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits) == 0)
                #expect(throws: SodiumRefusal.self) { try Self.key("a", passes: 1, memory: 512 << 20) }
                #expect(try Self.key("a", passes: 1, memory: 8 << 10).count == 32)
            }
        }
    #endif

    /// Made with Python's `hashlib.blake2b`: keyed, the number as salt, the context as personalisation.
    @Test(
        arguments: [
            (0, "12d1d168918cfd4e3fb85a488e839452aceda75a538833f890eccd6f6ac10842"),
            (1, "5029c2bce03c936cea5246f4f9072b69cf23fae69ea1166a4ee4a651b5456eba"),
            (.max, "60ea2115dca7de18e415f05bc7bf26f3163c439e8a9efe82e533ff67c0908674"),
        ] as [(UInt64, Hex)])
    func subkeyIsABLAKE2bOfTheKey(number: UInt64, subkey: Hex) {
        let key = SecretBytes(copying: Bytes(0...31).span)
        #expect(StoreKDF.subkey(number, context: "pushcryp", of: key).bytes == subkey.bytes)
    }
}

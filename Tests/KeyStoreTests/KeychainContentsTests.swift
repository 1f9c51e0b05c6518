import ModelKeychain
import PostQuantum
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The bytes of a Keychain item: one form for each content, and nothing else is read.
struct KeychainContentsTests {
    private static let scalar = Bytes(1...32)
    private static let provider = ProviderKey()
    private static let other = ProviderKey()

    private static func text(_ text: String) -> Bytes { [UInt8(text.utf8.count)] + Bytes(text.utf8) }

    private static func number(_ value: UInt64) -> Bytes { Bytes((0..<8).map { UInt8(value >> (56 - 8 * $0) & 0xff) }) }

    private static func count(_ value: UInt8) -> Bytes { [0, 0, 0, value] }

    /// A key as the table has it: active, or retiring at a moment.
    private static func key(
        _ name: String = "default", topic: String = "", suite: UInt8 = 1, generation: UInt64 = 1, state: UInt8 = 2,
        retires: UInt64? = nil, publicKey: Bytes = []
    ) -> Bytes {
        let head = text(name) + text(topic) + [suite] + number(generation)
        return head + [state] + number(5) + (retires.map(number) ?? []) + publicKey
    }

    private static func pin(
        _ id: UInt64, _ account: String = "default", topic: String = "", of provider: ProviderKey = provider,
        origin: UInt8 = 1
    ) -> Bytes {
        number(id) + text(account) + text(topic) + provider.publicKey.bytes + [origin] + number(6)
    }

    /// An item, put together by hand.
    private static func item(
        version: UInt8 = 5, default name: String = "default", keys: [Bytes] = [key()], pins: [Bytes] = [],
        updateKeys accounts: [String] = [], scalars: [Bytes] = [scalar], extra: Bytes = []
    ) -> Bytes {
        let accounts = count(UInt8(accounts.count)) + accounts.map(text).joined()
        let table =
            text(name) + count(UInt8(keys.count)) + keys.joined() + count(UInt8(pins.count)) + pins.joined() + accounts
        let length = [0, 0] + Bytes([UInt8(table.count >> 8), UInt8(table.count & 0xff)])
        return sealed([version] + Bytes(repeating: 0xaa, count: 16) + length + table + scalars.joined() + extra)
    }

    private static func sealed(_ bytes: Bytes) -> Bytes { bytes + SHA256.digest(bytes.span) }

    private func parse(_ bytes: Bytes) throws -> KeychainContents {
        let span = bytes.span
        return try KeychainContents.parse(span).contents
    }

    private func key(of row: KeychainContents.KeyRow) throws -> DeviceKey {
        let item = KeychainItem(items: ModelKeychain().process("group"), service: "s", accessGroup: "group")
        return try KeychainTransaction(KeychainContents(), of: item).secret(of: row)
    }

    private static let postQuantumKey = Bytes(repeating: 0, count: 1184) + [9] + Bytes(repeating: 0, count: 31)

    /// A build without X-Wing keeps a key that it cannot use, and everything beside it works.
    @Test(.enabled(if: !CipherSuite.xwing.isSupported)) func aKeyOfSuite2IsKept() throws {
        let bytes = Self.item(
            keys: [
                Self.key(state: 3, retires: 7), Self.key(suite: 2, generation: 2, publicKey: Self.postQuantumKey),
            ], scalars: [Bytes(2...33), Self.scalar])
        let contents = try parse(bytes)
        #expect(try key(of: contents.keys[0]).scalar == Bytes(2...33))
        #expect(contents.keys[1].publicKey.bytes == Self.postQuantumKey)
        #expect(code { try key(of: contents.keys[1]) } == .unsupportedSuite)
        #expect(contents.data(revision: Bytes(repeating: 0xaa, count: 16)).withSpan { Bytes(copying: $0) } == bytes)

        let keychain = ModelKeychain()
        let store = KeychainKeyStore(items: keychain.process("group"), accessGroup: "group")
        let first = try store.generateDeviceKey(at: start)
        // The Keychain knows the item's revision.
        keychain.replaceData { Self.sealed([5] + $0[1..<17] + bytes[17..<bytes.count - 32]) }
        #expect(try store.deviceKeys().map(\.publicKey.suite) == [.x25519, .xwing])
        #expect(first.publicKey.suite == .x25519)
        #expect(try store.purgeRetiredDeviceKeys(at: start).count == 1)
        #expect(try store.purgeDeviceKeys(named: "default").count == 1)
    }

    /// The public key of the table must be that of the seed.
    @Test(.postQuantum) func aKeyOfSuite2HasItsOwnPublicKey() throws {
        let seed = Self.scalar.span
        let own = try DeviceKey(scalar: seed, .xwing).publicKey
        let row = try #require(
            try parse(Self.item(keys: [Self.key(suite: 2, publicKey: own.bytes)])).keys.first)
        #expect(try key(of: row).publicKey == own)
        let other = Self.item(keys: [Self.key(suite: 2, publicKey: Self.postQuantumKey)])
        #expect(code { try parse(other) } == .corruptStore)
    }

    @Test func aRetiringKeyAndPinsHaveTheseBytes() throws {
        let bytes = Self.item(
            keys: [Self.key(topic: "com.example.app", state: 3, retires: 7)],
            pins: [Self.pin(9, topic: "a", origin: 2), Self.pin(12, topic: "a", of: Self.other), Self.pin(13, "ben")])
        let contents = try parse(bytes)
        let row = try #require(contents.keys.first)
        #expect(row.state == .retiring && row.retiresAt?.milliseconds == 7 && row.topic?.bundleID == "com.example.app")
        #expect(contents.pins.map(\.id) == [9, 12, 13] && contents.pins.map(\.origin) == [.reply, .app, .app])
        #expect(contents.pins.map(\.key) == [Self.provider, Self.other, Self.provider].map(\.publicKey))
        #expect(contents.pins.map(\.account) == ["default", "default", "ben"])
        #expect(contents.pins.map { $0.topic?.bundleID } == ["a", "a", nil])
        #expect(contents.pins.allSatisfy { $0.createdAt.milliseconds == 6 })
        #expect(contents.data(revision: Bytes(repeating: 0xaa, count: 16)).withSpan { Bytes(copying: $0) } == bytes)
    }

    @Test func updateKeysHaveTheseBytes() throws {
        let bytes = Self.item(updateKeys: ["default", "ben"], scalars: [Self.scalar, Bytes(2...33), Bytes(3...34)])
        let contents = try parse(bytes)
        #expect(contents.updateKeys.map(\.account) == ["default", "ben"])
        let seeds = contents.updateKeys.map { $0.key.withSeed { Bytes(copying: $0) } }
        #expect(seeds == [Bytes(2...33), Bytes(3...34)])
        #expect(contents.data(revision: Bytes(repeating: 0xaa, count: 16)).withSpan { Bytes(copying: $0) } == bytes)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt8]) func anItemOfAnEarlierLayoutIsRefused(_ version: UInt8) {
        let refused = error { try parse(Self.item(version: version)) }
        #expect(refused?.code == .olderVersion)
        #expect(refused?.description.contains("purgeEverything, generate a new key and register again") == true)
    }

    @Test func noPrefixAndNoChangedBitIsRead() throws {
        let item = Self.item(
            pins: [Self.pin(1)], updateKeys: ["default"], scalars: [Self.scalar, Self.scalar])
        for count in item.indices { #expect(code { try parse(Bytes(item.prefix(count))) } == .corruptStore) }
        for index in item.indices {
            for bit in 0..<8 {
                var changed = item
                changed[index] ^= 1 << UInt8(bit)
                let code = code { try parse(changed) }
                let isVersion = index == 0 && (code == .newerVersion || code == .olderVersion)
                #expect(code == .corruptStore || isVersion, "bit \(bit) of byte \(index)")
            }
        }
    }

    /// Whole items with a right digest, each wrong in one way.
    private static let wrong: [(String, Bytes)] = [
        ("version 0", item(version: 0)),
        ("a byte too many", item(extra: [0])),
        ("a scalar too many", item(scalars: [scalar, scalar])),
        ("a scalar too few", item(scalars: [])),
        ("a table that is cut", item(keys: [Bytes(key().dropLast())])),
        ("a default name that no key has", item(default: "other")),
        ("a key without a name", item(default: "", keys: [key("")])),
        ("a name with a control character", item(default: "a\n", keys: [key("a\n")])),
        ("a name that is not UTF-8", item(default: "", keys: [[1, 0xff] + key("").dropFirst()])),
        ("a topic that is no bundle id", item(keys: [key(topic: "a b")])),
        ("suite 0", item(keys: [key(suite: 0)])),
        ("suite 3", item(keys: [key(suite: 3)])),
        ("a key of suite 2 without its public key", item(keys: [key(suite: 2)])),
        ("state 0", item(keys: [key(state: 0)])),
        ("state 4", item(keys: [key(state: 4)])),
        ("an active key with an end date", item(keys: [key(retires: 7)])),
        ("a retiring key without an end date", item(keys: [key(state: 3)])),
        ("one key twice", item(keys: [key(), key("other")], scalars: [scalar, scalar])),
        (
            "one generation twice", item(keys: [key(), key()], scalars: [scalar, Bytes(2...33)])
        ),
        (
            "an older generation after a newer one",
            item(keys: [key(generation: 2), key(generation: 1)], scalars: [scalar, Bytes(2...33)])
        ),
        ("an account without a name", item(pins: [pin(1, "")])),
        ("a topic that is none", item(pins: [pin(1, topic: "a b")])),
        ("an origin that is none", item(pins: [pin(1, origin: 3)])),
        ("no origin", item(pins: [pin(1, origin: 0)])),
        ("a pin that is cut", item(pins: [Bytes(pin(1).dropLast())])),
        ("a number twice", item(pins: [pin(1), pin(1, "ben")])),
        ("numbers that fall", item(pins: [pin(2), pin(1, "ben")])),
        ("a provider twice", item(pins: [pin(1), pin(2)])),
        ("an account's pins for two apps", item(pins: [pin(1), pin(2, topic: "a", of: other)])),
        ("an update key without its seed", item(updateKeys: ["default"])),
        ("an update key of no account", item(updateKeys: [""], scalars: [scalar, scalar])),
        ("two update keys of an account", item(updateKeys: ["a", "a"], scalars: [scalar, scalar, Bytes(2...33)])),
        ("three pins of an account", item(pins: [pin(1), pin(2, of: other), pin(3, of: ProviderKey())])),
    ]

    @Test(arguments: wrong)
    func whatCouldNotHaveBeenWrittenIsNotRead(_ name: String, _ item: Bytes) {
        #expect(code { try parse(item) } == .corruptStore)
    }

    @Test func aCountThatThereAreNoRowsForTakesNoTime() {
        let table: Bytes = [0, 0xff, 0xff, 0xff, 0xff]
        let item = Self.sealed([5] + Bytes(repeating: 0, count: 16) + [0, 0, 0, 5] + table)
        #expect(code { try parse(item) } == .corruptStore)
    }
}

/// The bytes of the item with what was learned.
struct LearnedContentsTests {
    private let provider: TestProvider

    init() throws { provider = try TestProvider() }

    private func row(_ certificate: Certificate, _ topic: String = "com.example.app", floor: UInt8) -> Bytes {
        provider.publicKey.bytes + [UInt8(topic.utf8.count)] + Bytes(topic.utf8) + certificate.bytes + [0, 0, 0, floor]
    }

    private func item(version: UInt8 = 1, _ rows: [Bytes]) -> Bytes {
        let bytes = [version] + Bytes(repeating: 0xaa, count: 16) + rows.joined()
        return bytes + SHA256.digest(bytes.span)
    }

    private func parse(_ bytes: Bytes) throws -> LearnedContents {
        let span = bytes.span
        return try LearnedContents.parse(span).contents
    }

    @Test func noPrefixAndNoChangedBitIsRead() throws {
        let item = item([row(try provider.certificate(5), floor: 3)])
        for count in item.indices { #expect(code { try parse(Bytes(item.prefix(count))) } == .corruptStore) }
        for index in item.indices {
            var changed = item
            changed[index] ^= 1 << UInt8(index % 8)
            let code = code { try parse(changed) }
            #expect(code == .corruptStore || index == 0 && code == .newerVersion, "byte \(index)")
        }
    }

    @Test func whatCouldNotHaveBeenWrittenIsNotRead() throws {
        let certificate = try provider.certificate(5, floor: 2)
        let good = row(certificate, floor: 3)
        let wrong: [Bytes] = [
            item(version: 0, [good]), item([good, good]), item([Bytes(good.dropLast())]), item([good + [0]]),
            item([row(certificate, "", floor: 3)]), item([row(certificate, "a b", floor: 3)]),
            item([row(Certificate(checked: Bytes(repeating: 1, count: 121)), floor: 3)]),
            // A floor below that of the certificate.
            item([row(certificate, floor: 1)]),
        ]
        for (number, item) in wrong.enumerated() { #expect(code { try parse(item) } == .corruptStore, "\(number)") }
        #expect(code { try parse(item(version: 2, [good])) } == .newerVersion)
    }
}

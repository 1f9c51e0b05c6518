import ModelKeychain
import PostQuantum
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The bytes of a Keychain item: one form for each content, and nothing else is read.
struct KeychainContentsTests {
    private static let scalar = Bytes(1...32)
    private static let old = ProviderKey()
    private static let new = ProviderKey()

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

    private static func sender(
        _ id: UInt64, _ name: String = "provider", topic: String = "", state: UInt8 = 1, rest: Bytes = [0, 0]
    ) -> Bytes {
        number(id) + text(name) + text(topic) + old.publicKey.bytes + [state] + number(6) + rest
    }

    /// The recovery keys of a sender, and the last recovery: its serial, and 53 bytes unless that is 0.
    private static func recovery(_ keys: [Bytes], name: String = "provider", last: Bytes = count(0)) -> Bytes {
        text(name) + [UInt8(keys.count)] + keys.joined() + last
    }

    private static let recoveryKey = RecoveryKey().publicKey.bytes
    private static let lastRecovery = count(7) + Bytes(repeating: 0xcc, count: 53) + recoveryKey

    /// An item, put together by hand.
    private static func item(
        version: UInt8 = 3, default name: String = "default", keys: [Bytes] = [key()], senders: [Bytes] = [],
        recoveries: [Bytes] = [], scalars: [Bytes] = [scalar], extra: Bytes = []
    ) -> Bytes {
        let table =
            text(name) + count(UInt8(keys.count)) + keys.joined() + count(UInt8(senders.count)) + senders.joined()
            + count(UInt8(recoveries.count)) + recoveries.joined()
        let length = [0, 0] + Bytes([UInt8(table.count >> 8), UInt8(table.count & 0xff)])
        return sealed([version] + Bytes(repeating: 0xaa, count: 16) + length + table + scalars.joined() + extra)
    }

    private static func sealed(_ bytes: Bytes) -> Bytes { bytes + SHA256.digest(bytes.span) }

    private func parse(_ bytes: Bytes) throws -> KeychainContents {
        let span = bytes.span
        return try KeychainContents.parse(span).contents
    }

    private func key(of row: KeychainContents.KeyRow) throws -> DeviceKey {
        try KeychainTransaction(KeychainContents()).secret(of: row)
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
        keychain.replaceData { Self.sealed([3] + $0[1..<17] + bytes[17..<bytes.count - 32]) }
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

    @Test func anItemHasTheseBytes() throws {
        let contents = try parse(Self.item())
        let row = try #require(contents.keys.first)
        #expect(contents.defaultName == "default" && contents.keys.count == 1 && contents.senders.isEmpty)
        #expect(row.name == "default" && row.topic == nil && row.generation == 1 && row.state == .active)
        #expect(row.createdAt.milliseconds == 5 && row.retiresAt == nil)
        #expect(try key(of: row).scalar == Self.scalar)
        let written = contents.data(revision: Bytes(repeating: 0xaa, count: 16)).withSpan { Bytes(copying: $0) }
        #expect(written == Self.item())
    }

    @Test func aRetiringKeyAndASupersededSenderHaveTheseBytes() throws {
        let statement = try RotationStatement(from: Self.old, to: Self.new, at: start)
        let bytes = Self.item(
            keys: [Self.key(topic: "com.example.app", state: 3, retires: 7)],
            senders: [Self.sender(9, topic: "a", state: 2, rest: [1] + Self.number(8) + [1] + statement.bytes)])
        let contents = try parse(bytes)
        let row = try #require(contents.keys.first)
        #expect(row.state == .retiring && row.retiresAt?.milliseconds == 7 && row.topic?.bundleID == "com.example.app")
        let sender = try #require(contents.senders.first)
        #expect(sender.id == 9 && sender.name == "provider" && sender.key == Self.old.publicKey)
        #expect(sender.state == .superseded && sender.verifiesUntil?.milliseconds == 8 && sender.statement == statement)
        #expect(contents.data(revision: Bytes(repeating: 0xaa, count: 16)).withSpan { Bytes(copying: $0) } == bytes)
    }

    @Test func aRecoveryHasTheseBytes() throws {
        let bytes = Self.item(recoveries: [
            Self.recovery([Self.recoveryKey, Self.old.publicKey.bytes], name: "a"),
            Self.recovery([], name: "b", last: Self.lastRecovery),
        ])
        let rows = try parse(bytes).recoveries
        #expect(rows.map(\.name) == ["a", "b"] && rows.map(\.recoveryKeys.count) == [2, 0])
        #expect(rows[0].recoveryKeys[0].bytes == Self.recoveryKey && rows[0].last == nil)
        #expect(rows[1].last?.serial == 7 && rows[1].last?.claim == Bytes(repeating: 0xcc, count: 53))
        #expect(rows[1].last?.recoveryKey.bytes == Self.recoveryKey)
        #expect(
            try parse(bytes).data(revision: Bytes(repeating: 0xaa, count: 16)).withSpan { Bytes(copying: $0) } == bytes)
    }

    @Test(arguments: [1, 2] as [UInt8]) func anItemOfAnEarlierLayoutIsRefused(_ version: UInt8) {
        let refused = error { try parse(Self.item(version: version)) }
        #expect(refused?.code == .olderVersion)
        #expect(refused?.description.contains("purgeEverything, generate a new key and register again") == true)
    }

    @Test func noPrefixAndNoChangedBitIsRead() throws {
        let item = Self.item(
            senders: [Self.sender(1)], recoveries: [Self.recovery([Self.recoveryKey], last: Self.lastRecovery)])
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
        ("one number twice", item(senders: [sender(1), sender(1, "other")])),
        ("numbers that fall", item(senders: [sender(2), sender(1, "other")])),
        ("two pins of one name", item(senders: [sender(1), sender(2)])),
        ("a pinned sender with an end", item(senders: [sender(1, rest: [1] + number(8) + [0])])),
        ("a flag that is 2", item(senders: [sender(1, state: 2, rest: [2] + number(8) + [0])])),
        ("three recovery keys", item(recoveries: [recovery([1, 2, 3].map { Bytes(repeating: $0, count: 32) })])),
        ("a sender's recovery keys twice", item(recoveries: [recovery([recoveryKey]), recovery([recoveryKey])])),
        (
            "names that fall",
            item(recoveries: [recovery([recoveryKey], name: "b"), recovery([recoveryKey], name: "a")])
        ),
        ("a recovery key for no name", item(recoveries: [recovery([recoveryKey], name: "")])),
        ("a serial without the statement's bytes", item(recoveries: [recovery([recoveryKey], last: count(7))])),
        (
            "a statement of another version",
            item(senders: [sender(1, state: 2, rest: [0, 1] + Bytes(repeating: 9, count: 181))])
        ),
    ]

    @Test(arguments: wrong)
    func whatCouldNotHaveBeenWrittenIsNotRead(_ name: String, _ item: Bytes) {
        #expect(code { try parse(item) } == .corruptStore)
    }

    @Test func aCountThatThereAreNoRowsForTakesNoTime() {
        let table: Bytes = [0, 0xff, 0xff, 0xff, 0xff]
        let item = Self.sealed([3] + Bytes(repeating: 0, count: 16) + [0, 0, 0, 5] + table)
        #expect(code { try parse(item) } == .corruptStore)
    }
}

import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit/keys` and `kit/contexts`: texts of keys, and what must not be imported.
/// (`Docs/Format.md`, K-2 and K-4 to K-8)
@Suite struct KitKeyTests {
    @Test(.vectors("kit/keys"), arguments: try KitGroup.keys.vectors())
    func aKeyIsReadOrNot(_ vector: KitVector) throws {
        let kind = try KeyTextKind(vector)
        let given = vector.body
        do {
            let key = try kind.read(given)
            #expect(vector.expect == "accepted")
            #expect(try key.bytes == vector.bytes("bytes"))
            #expect(key.text == (given.last == UInt8(ascii: "\n") ? Bytes(given.dropLast()) : given))
            #expect(key.keyID == vector.optional("key-id"))
            #expect(key.publicKey.map(\.hex) == vector.optional("public-key"))
            let again = try kind.take(key.bytes)
            #expect(again == key)
        } catch let error as KeyError {
            #expect(error.code.description == vector.expect, "\(error)")
        }
    }

    /// A weak key is refused as bytes, too.
    @Test(arguments: try KitGroup.keys.vectors().filter { $0.expect == "weak-key" })
    func aWeakKeyIsRefusedAsBytes(_ vector: KitVector) throws {
        let (kind, bytes) = (try KeyTextKind(vector), try vector.bytes("bytes"))
        let error = #expect(throws: KeyError.self) { try kind.take(bytes) }
        #expect(error?.code == .weakKey)
    }

    @Test(.vectors("kit/contexts"), arguments: try KitGroup.contexts.vectors())
    func aContextIsTakenOrNot(_ vector: KitVector) throws {
        let text = try vector.text
        let topic = try? Topic(text)
        #expect(topic?.bundleID == (vector.expect == "accepted" ? text : nil))
    }
}

/// The five kinds of key text, and how each is read.
enum KeyTextKind: String {
    case devicePublic = "device-public"
    case providerPublic = "provider-public"
    case deviceSecret = "device-secret"
    case providerSecret = "provider-secret"
    case signingSecret = "signing-secret"

    /// The result of reading a text.
    struct Key: Equatable {
        let bytes: Bytes
        /// The text that the library writes.
        let text: Bytes
        var keyID: String?
        var publicKey: Bytes?
    }

    init(_ vector: KitVector) throws {
        self = try #require(Self(rawValue: vector.one("kind")))
    }

    func read(_ text: Bytes) throws(KeyError) -> Key {
        switch self {
        case .devicePublic: Self.key(try DevicePublicKey(text: String(validating: text, as: UTF8.self) ?? ""))
        case .providerPublic: Self.key(try ProviderPublicKey(text: String(validating: text, as: UTF8.self) ?? ""))
        case .deviceSecret: Self.key(try DeviceKey(text: text.span))
        case .providerSecret: Self.key(try ProviderKey(text: text.span))
        case .signingSecret: Self.key(try SigningKey(text: text.span))
        }
    }

    func take(_ bytes: Bytes) throws(KeyError) -> Key {
        switch self {
        case .devicePublic: Self.key(try DevicePublicKey(bytes: bytes.span))
        case .providerPublic: Self.key(try ProviderPublicKey(bytes: bytes.span))
        case .deviceSecret: Self.key(try DeviceKey(scalar: bytes.span))
        case .providerSecret: Self.key(try ProviderKey(seed: bytes.span))
        case .signingSecret: Self.key(try SigningKey(seed: bytes.span))
        }
    }

    private static func key(_ key: DevicePublicKey) -> Key {
        Key(bytes: key.bytes, text: Bytes(key.description.utf8), keyID: key.id.description)
    }

    private static func key(_ key: ProviderPublicKey) -> Key {
        Key(bytes: key.bytes, text: Bytes(key.description.utf8), keyID: key.id.description)
    }

    private static func key(_ key: SigningKey) -> Key {
        Key(
            bytes: key.withSeed { Bytes(copying: $0) }, text: key.withText { Bytes(copying: $0) },
            publicKey: key.publicKey.bytes)
    }

    private static func key(_ key: DeviceKey) -> Key {
        Key(
            bytes: key.withScalar { Bytes(copying: $0) }, text: key.withText { Bytes(copying: $0) },
            publicKey: key.publicKey.bytes)
    }

    private static func key(_ key: ProviderKey) -> Key {
        Key(
            bytes: key.withSeed { Bytes(copying: $0) }, text: key.withText { Bytes(copying: $0) },
            publicKey: key.publicKey.bytes)
    }
}

import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import Server

/// The server of the article Registrations believes who is logged in and what is signed, and no record.
@Suite(.timeLimit(.minutes(2))) final class RegistrarTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("registrar-\(UUID())").path
    private let now = Timestamp(secondsSince1970: 1_800_000_000)
    private let topic: Topic
    private let registrar: Registrar
    private let provider: ProviderPublicKey
    private let updateKey = SigningKey()

    init() throws {
        topic = try Topic("com.example.app")
        registrar = Registrar(store: try SQLiteKeyStore.create(in: folder))
        provider = try registrar.store.generateProviderKey(topic: topic, at: now).publicKey
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func post(
        _ key: DeviceKey, device: String = "5d0f", generation: UInt64 = 1, sequence: UInt64 = 1,
        pin: ProviderPublicKey? = nil, in session: Bool = true
    ) -> Data {
        let record = DeviceRegistration(
            deviceID: device, publicKey: key.publicKey, topic: topic, generation: generation, createdAt: now,
            pinnedProvider: pin ?? provider)
        return Data(SignedRecord(record, sequence: sequence, by: updateKey, in: session, for: topic).body)
    }

    private func end(_ device: String = "5d0f", by key: SigningKey) -> Data {
        Data(SignedRecord(endOf: device, at: provider, by: key, for: topic).body)
    }

    private func reply(_ body: Data, from user: String) throws -> RegistrationReply {
        let answer = try #require(try registrar.accept(body, from: user, at: now))
        return try RegistrationReply(json: ContiguousArray(answer))
    }

    @Test func anotherUserTakesNeitherTheDeviceNorItsKey() throws {
        let key = DeviceKey()
        #expect(
            try reply(post(key), from: "alice") == RegistrationReply(.acknowledged(key.publicKey), provider: provider))
        let refused = try reply(post(DeviceKey(), generation: 2, sequence: 2), from: "bob")
        #expect(refused == RegistrationReply(.refused(.userMismatch), provider: provider))
        #expect(
            try reply(post(key, device: "bobs"), from: "bob")
                == RegistrationReply(.refused(.keyTaken), provider: provider))
        let device = try #require(try registrar.store.device(id: "5d0f"))
        #expect(device.user == "alice" && device.publicKey == key.publicKey)
        #expect(try registrar.store.device(id: "bobs") == nil)
    }

    /// So that a phone that is refused learns of a theft too. [D-37]
    @Test func everyReplyBringsTheCertificate() throws {
        let store = registrar.store
        let certificate = try #require(
            try store.rotateSigningKey(stolen: true, anyway: true, at: now).certificate)
        #expect(try reply(post(DeviceKey()), from: "alice").certificate == certificate)
        #expect(try reply(post(DeviceKey()), from: "bob").certificate == certificate)
    }

    @Test func withoutASessionOnlyThePhoneItselfChangesItsDevice() throws {
        let (key, next) = (DeviceKey(), DeviceKey())
        _ = try reply(post(key), from: "alice")
        let update = post(next, generation: 2, sequence: 2, in: false)
        #expect(try registrar.accept(update, from: nil, at: now) != nil)
        #expect(try registrar.store.device(id: "5d0f")?.publicKey == next.publicKey)
        for (body, isHeld) in [
            (end(by: SigningKey()), true), (end("5d10", by: updateKey), true), (end(by: updateKey), false),
            (update, false),
        ] {
            #expect(try registrar.accept(body, from: nil, at: now) != nil)
            #expect(try (registrar.store.device(id: "5d0f") != nil) == isHeld)
        }
    }

    @Test func aPostThatIsNoneAndABrokenStoreGetNoReplies() throws {
        #expect(throws: KeyError.self) { try registrar.accept(Data("{}".utf8), from: nil, at: now) }
        #expect(try registrar.accept(Data(#"{"pairing":"AA"}"#.utf8), from: nil, at: now) == nil)
        #expect(throws: KeyStoreError.self) { try reply(post(DeviceKey()), from: "") }
    }

    @Test func aPhoneThatTrustsSomebodyElseIsTold() throws {
        let key = DeviceKey()
        let answer = try reply(post(key, pin: ProviderKey().publicKey), from: "alice")
        #expect(answer == RegistrationReply(.acknowledged(key.publicKey), provider: provider, foreign: [.provider]))
        #expect(try reply(post(key, sequence: 2), from: "alice").foreign == [])
    }
}

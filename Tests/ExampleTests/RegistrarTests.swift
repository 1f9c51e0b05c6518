import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import Server

/// The server of Docs/ServiceExtension.md believes who is logged in, and no record.
@Suite(.timeLimit(.minutes(2))) final class RegistrarTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("registrar-\(UUID())").path
    private let now = Timestamp(secondsSince1970: 1_800_000_000)
    private let registrar: Registrar
    private let provider: ProviderPublicKey

    init() throws {
        registrar = Registrar(store: try SQLiteKeyStore.create(in: folder, at: now))
        provider = try registrar.store.generateProviderKey(topic: Topic("com.example.app"), at: now).publicKey
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func record(
        _ key: DeviceKey, device: String? = "5d0f", generation: UInt64 = 1, pin: ProviderPublicKey? = nil
    ) -> Data {
        let record = DeviceRegistration(
            deviceID: device, publicKey: key.publicKey, generation: generation, createdAt: now, pinnedProvider: pin)
        return Data(record.json)
    }

    private func reply(_ body: Data, from user: String) throws -> RegistrationReply {
        try RegistrationReply(json: ContiguousArray(registrar.register(body, from: user, at: now)))
    }

    @Test func anotherUserTakesNeitherTheDeviceNorItsKey() throws {
        let key = DeviceKey()
        #expect(
            try reply(record(key), from: "alice") == RegistrationReply(.acknowledged(key.publicKey), provider: provider)
        )
        let refused = try reply(record(DeviceKey(), generation: 2), from: "bob")
        #expect(refused == RegistrationReply(.refused(.userMismatch), provider: provider))
        #expect(
            try reply(record(key, device: "bobs"), from: "bob")
                == RegistrationReply(.refused(.keyTaken), provider: provider))
        let device = try #require(try registrar.store.device(id: "5d0f"))
        #expect(device.user == "alice" && device.publicKey == key.publicKey)
        #expect(try registrar.store.deviceCount() == 1)
    }

    /// So that a phone that is refused learns of a theft too. [D-26]
    @Test func everyReplyBringsTheCertificate() throws {
        let store = registrar.store
        let certificate = try #require(
            try store.rotateSigningKey(stolen: true, anyway: true, at: now).certificate)
        #expect(try reply(record(DeviceKey()), from: "alice").certificate == certificate)
        #expect(try reply(record(DeviceKey()), from: "bob").certificate == certificate)
    }

    @Test func onlyThePhoneItselfEndsItsDeviceWithoutASession() throws {
        let record = String(decoding: record(DeviceKey()), as: UTF8.self)
        let secret = String(repeating: "7d", count: 16)
        _ = try reply(Data("\(record.dropLast()),\"withdrawal\":\"\(secret)\"}".utf8), from: "alice")
        func withdraw(_ device: String, _ secret: String) throws {
            try registrar.withdraw(Data("{\"device\":\"\(device)\",\"withdrawal\":\"\(secret)\"}".utf8), at: now)
        }
        try withdraw("5d0f", String(repeating: "7c", count: 16))
        try withdraw("5d10", secret)
        #expect(try registrar.store.deviceCount() == 1)
        try withdraw("5d0f", secret)
        #expect(try registrar.store.deviceCount() == 0)
        try withdraw("5d0f", secret)
        #expect(throws: KeyError.self) { try registrar.withdraw(Data("{}".utf8), at: now) }
    }

    @Test func aRecordWithoutADeviceAndABrokenStoreAreNoReplies() throws {
        #expect(throws: Registrar.NoDevice.self) { try reply(record(DeviceKey(), device: nil), from: "alice") }
        #expect(throws: KeyStoreError.self) { try reply(record(DeviceKey()), from: "") }
    }

    @Test func aPhoneThatTrustsSomebodyElseIsTold() throws {
        let key = DeviceKey()
        let answer = try reply(record(key, pin: ProviderKey().publicKey), from: "alice")
        #expect(answer == RegistrationReply(.acknowledged(key.publicKey), provider: provider, foreign: [.provider]))
        #expect(try reply(record(key, pin: provider), from: "alice").foreign == [])
    }
}

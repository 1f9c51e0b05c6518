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
    private let sender: ProviderPublicKey

    init() throws {
        registrar = Registrar(store: try SQLiteKeyStore.create(in: folder, at: now))
        sender = try registrar.store.generateProviderKey(at: now).publicKey
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func record(
        _ key: DeviceKey, device: String? = "5d0f", generation: UInt64 = 1, sender: ProviderPublicKey? = nil
    ) -> Data {
        let record = DeviceRegistration(
            deviceID: device, publicKey: key.publicKey, generation: generation, createdAt: now, pinnedProvider: sender)
        return Data(record.json)
    }

    private func reply(_ body: Data, from user: String) throws -> RegistrationReply {
        try RegistrationReply(json: ContiguousArray(registrar.register(body, from: user, at: now)))
    }

    @Test func anotherUserTakesNeitherTheDeviceNorItsKey() throws {
        let key = DeviceKey()
        #expect(
            try reply(record(key), from: "alice") == RegistrationReply(.acknowledged(key.publicKey), sender: sender))
        let refused = try reply(record(DeviceKey(), generation: 2), from: "bob")
        #expect(refused == RegistrationReply(.refused(.userMismatch)))
        #expect(try reply(record(key, device: "bobs"), from: "bob") == RegistrationReply(.refused(.keyTaken)))
        let device = try #require(try registrar.store.device(id: "5d0f"))
        #expect(device.user == "alice" && device.publicKey == key.publicKey)
        #expect(try registrar.store.deviceCount() == 1)
    }

    @Test func nobodyForgetsAnotherUsersDevice() throws {
        _ = try reply(record(DeviceKey()), from: "alice")
        try registrar.forget("5d0f", of: "bob", at: now)
        #expect(try registrar.store.deviceCount() == 1)
        try registrar.forget("5d0f", of: "alice", at: now)
        #expect(try registrar.store.deviceCount() == 0)
    }

    @Test func aRecordWithoutADeviceAndABrokenStoreAreNoReplies() throws {
        #expect(throws: Registrar.NoDevice.self) { try reply(record(DeviceKey(), device: nil), from: "alice") }
        #expect(throws: KeyStoreError.self) { try reply(record(DeviceKey()), from: "") }
    }

    @Test func aPhoneThatTrustsSomebodyElseIsTold() throws {
        let key = DeviceKey()
        let answer = try reply(record(key, sender: ProviderKey().publicKey), from: "alice")
        #expect(answer == RegistrationReply(.acknowledged(key.publicKey), sender: sender, foreign: [.sender]))
        #expect(try reply(record(key, sender: sender), from: "alice").foreign == [])
    }
}

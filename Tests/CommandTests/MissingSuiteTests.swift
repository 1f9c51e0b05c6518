import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A server whose libsodium has no X-Wing, with the store of others that have it.
@Suite(.enabled(if: !CipherSuite.xwing.isSupported)) struct MissingSuiteTests {
    private let directory: TemporaryDirectory
    private var store: String { directory.file("store") }

    /// A device with a key of suite 2, which another server has stored, and its permission to make one.
    init() throws {
        directory = try TemporaryDirectory()
        for arguments in [["init"], ["key", "new", "provider", "--topic", "com.example.app"]] {
            _ = try outcome(["--store", directory.file("store")] + arguments, table: .pushcrypt)
        }
        let bytes = Bytes(repeating: 0, count: 1184) + [9] + Bytes(repeating: 0, count: 31)
        let key = try DevicePublicKey(bytes: bytes.span)
        let shared = try SQLiteKeyStore.open(in: directory.file("store"))
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        let registration = DeviceRegistration(publicKey: key, suites: [1, 2], createdAt: now)
        _ = try shared.importDevices([.registered(id: "phone1", registration, updatedAt: now)], at: now)
        try shared.setSetting("1,2", named: "suites")
    }

    @Test("doctor says which devices cannot be sealed to")
    func doctor() throws {
        let outcome = try outcome(["doctor", "--store", store], table: .pushcrypt)
        #expect(outcome.exit == .failed)
        #expect(outcome.output.contains("1 device has a post-quantum key, which this libsodium"))
    }

    @Test("A phone is not told to make a key that this server refuses")
    func reply() throws {
        let key = "\(DeviceKey().publicKey)"
        let outcome = try outcome(
            ["--store", store, "device", "add", "phone2", "--reply"], table: .pushcrypt, input: key)
        #expect(outcome.exit == .done)
        #expect(outcome.output.contains("\"acknowledged\"") && !outcome.output.contains("2]"))
    }
}

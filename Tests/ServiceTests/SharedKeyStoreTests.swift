import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
@testable import PushcryptService
import Testing

/// Data shared by the app and its extensions, and data of the app alone.
@Suite(.serialized) final class SharedKeyStoreTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-test-\(UUID())")

    deinit {
        for name in ["PUSHCRYPT_KEYCHAIN", "PUSHCRYPT_APP_GROUPS"] { unsafe unsetenv(name) }
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Access group

    @Test func aPropertyListNamesTheAccessGroup() throws {
        #expect(try SharedKeyStore.accessGroup("AB12CD34EF.com.example.keys") == "AB12CD34EF.com.example.keys")
    }

    @Test(arguments: ["", "$(AppIdentifierPrefix)com.example.keys"])
    func aGroupThatXcodeHasNotFilledInIsRefused(_ value: String) {
        let error = #expect(throws: KeyStoreError.self) { try SharedKeyStore.accessGroup(value) }
        #expect(error?.code == .missingEntitlement)
        #expect(error?.description.contains("PushcryptKeychainGroup") == true)
    }

    @Test func aPropertyListWithoutAGroupIsRefused() {
        for value: Any? in [nil, 7, ["a"]] {
            let error = #expect(throws: KeyStoreError.self) { try SharedKeyStore.accessGroup(value) }
            #expect(error?.code == .missingEntitlement)
        }
    }

    // MARK: Without a Keychain

    @Test func withoutAFolderThereIsNoStore() {
        let error = #expect(throws: KeyStoreError.self) { try SharedKeyStore.open() }
        #expect(error?.code == .missingEntitlement)
    }

    @Test func aKeyThatTheAppHasMadeIsTheExtensions() throws {
        unsafe setenv("PUSHCRYPT_KEYCHAIN", folder.appendingPathComponent("a/keychain").path, 1)
        let made = try SharedKeyStore.open().generateDeviceKey(at: Self.now)
        let found = try SharedKeyStore.open().deviceKey(id: made.keyID, at: Self.now)
        #expect(found?.record.publicKey == made.publicKey)
    }

    // MARK: App group

    @Test func theAppReadsAGroupThatNoExtensionHasUsedYet() throws {
        unsafe setenv("PUSHCRYPT_APP_GROUPS", folder.path, 1)
        let group = AppGroup(identifier: "group.com.example")
        #expect(try group.journal().entries().isEmpty)
        let merged = try group.mergeStatements(into: SQLiteKeyStore.inMemory(), at: Self.now)
        #expect(merged.confirmed.isEmpty && merged.changes.isEmpty)
        let directory = folder.appendingPathComponent("group.com.example/pushcrypt").path
        #expect(try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int == 0o700)
    }

    @Test func aGroupThatIsMissingSaysWhatToDo() {
        let error = #expect(throws: AppGroup.Missing.self) { try AppGroup(identifier: "group.com.example").journal() }
        #expect(error?.description.contains("group.com.example") == true)
    }

    // MARK: Enrolment file

    @Test func theStateThatWasWrittenIsReadAgain() throws {
        let file = EnrolmentFile(at: folder.appendingPathComponent("app/enrolment.json"))
        guard case .none = file.read() else { return #expect(Bool(false), "there is a file") }
        try file.write(EnrolmentState())
        guard case .text(let text) = file.read() else { return #expect(Bool(false), "there is no file") }
        #expect(String(decoding: text, as: UTF8.self) == #"{"version":1,"accounts":[],"withdrawals":[]}"#)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("app").path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func aFileThatCannotBeReadIsNotTakenForMissing() throws {
        let place = folder.appendingPathComponent("enrolment.json")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        guard case .unreadable = EnrolmentFile(at: place).read() else { return #expect(Bool(false), "it was read") }
    }
}

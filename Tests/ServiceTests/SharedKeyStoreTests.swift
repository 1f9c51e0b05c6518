import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
@testable import PushcryptService
import Testing

/// Data shared by the app and its extensions, and data of the app alone. What depends on the environment has its own process: other
/// tests set it too.
final class SharedKeyStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-test-\(UUID())")

    deinit { try? FileManager.default.removeItem(at: folder) }

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

    @Test func withoutAFolderThereIsNoStore() async {
        await #expect(processExitsWith: .success) { openWithoutAFolder() }
    }

    @Test func aKeyThatTheAppHasMadeIsTheExtensions() async {
        let file = folder.appendingPathComponent("a/keychain")
        await #expect(processExitsWith: .success) { [path = file.path as String] in try makeAndFindAKey(path) }
    }

    // MARK: App group

    @Test func theAppReadsAGroupThatNoExtensionHasUsedYet() async throws {
        await #expect(processExitsWith: .success) { [path = folder.path as String] in try readAnUnusedGroup(path) }
        let directory = folder.appendingPathComponent("group.com.example/pushcrypt").path
        #expect(try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int == 0o700)
    }

    @Test func aGroupThatIsMissingSaysWhatToDo() async {
        await #expect(processExitsWith: .success) { readAMissingGroup() }
    }

    // MARK: Enrolment file

    @Test func theStateThatWasWrittenIsReadAgain() throws {
        let file = EnrolmentFile(at: folder.appendingPathComponent("app/enrolment.json"))
        guard case .none = file.read() else { return #expect(Bool(false), "there is a file") }
        try file.write(EnrolmentState())
        guard case .text(let text) = file.read() else { return #expect(Bool(false), "there is no file") }
        #expect(String(decoding: text, as: UTF8.self) == #"{"version":1,"accounts":[],"ends":[]}"#)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("app").path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func aFileThatCannotBeReadIsNotTakenForMissing() throws {
        let place = folder.appendingPathComponent("enrolment.json")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        guard case .unreadable = EnrolmentFile(at: place).read() else { return #expect(Bool(false), "it was read") }
    }
}

// MARK: In a separate process

private let now = Timestamp(milliseconds: 1_800_000_000_000)

private func openWithoutAFolder() {
    unsafe unsetenv("PUSHCRYPT_KEYCHAIN")
    let error = #expect(throws: KeyStoreError.self) { try SharedKeyStore.open() }
    #expect(error?.code == .missingEntitlement)
}

private func makeAndFindAKey(_ path: String) throws {
    unsafe setenv("PUSHCRYPT_KEYCHAIN", path, 1)
    let made = try SharedKeyStore.open().generateDeviceKey(at: now)
    let found = try SharedKeyStore.open().deviceKey(id: made.keyID, at: now)
    #expect(found?.record.publicKey == made.publicKey)
}

private func readAnUnusedGroup(_ path: String) throws {
    unsafe setenv("PUSHCRYPT_APP_GROUPS", path, 1)
    let group = AppGroup(identifier: "group.com.example")
    #expect(try group.journal().entries().isEmpty)
    let merged = try group.mergeLearned(into: SQLiteKeyStore.inMemory(), at: now)
    #expect(merged.confirmed.isEmpty && merged.raised == 0)
}

private func readAMissingGroup() {
    unsafe unsetenv("PUSHCRYPT_APP_GROUPS")
    let error = #expect(throws: AppGroup.Missing.self) { try AppGroup(identifier: "group.com.example").journal() }
    #expect(error?.description.contains("group.com.example") == true)
}

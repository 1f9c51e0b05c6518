import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import PushcryptService

/// Data shared by the app and its extensions, and data of the app alone. What depends on the environment has its own
/// process: other tests set it too.
final class SharedKeyStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-test-\(UUID())")

    deinit { try? FileManager.default.removeItem(at: folder) }

    // MARK: Access group

    @Test func aPropertyListNamesTheAccessGroup() throws {
        #expect(try SharedKeyStore.group("AB12CD34EF.com.example.keys", key: "K") == "AB12CD34EF.com.example.keys")
    }

    @Test func aGroupThatIsMissingOrThatXcodeHasNotFilledInIsRefused() {
        for value: Any? in [nil, 7, ["a"], "", "$(AppIdentifierPrefix)com.example.keys"] {
            let error = #expect(throws: KeyStoreError.self) { try SharedKeyStore.group(value, key: "Key") }
            #expect(error?.code == .missingEntitlement)
            #expect(error?.description.contains("Key") == true)
        }
    }

    // MARK: Without a Keychain

    @Test func withoutAFolderThereIsNoStore() async {
        await #expect(processExitsWith: .success) { try openWithoutAFolder() }
    }

    @Test func aKeyThatTheAppHasMadeIsTheExtensions() async {
        let file = folder.appendingPathComponent("a/keychain")
        await #expect(processExitsWith: .success) { [path = file.path as String] in try makeAndFindAKey(path) }
    }

    // MARK: App group

    @Test func theAppReadsAGroupThatNoExtensionHasUsedYet() async throws {
        await #expect(processExitsWith: .success) { [path = folder.path as String] in try readAnUnusedGroup(path) }
        let directory = folder.appendingPathComponent("group.com.example/pushcrypt/com.example.app").path
        #expect(try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int == 0o700)
    }

    @Test func aGroupThatIsMissingSaysWhatToDo() async {
        await #expect(processExitsWith: .success) { try readAMissingGroup() }
    }

    // MARK: Installation

    @Test func anInstallationHasOneMark() throws {
        let mark = InstallationMark(url: folder.appendingPathComponent("app/pushcrypt/installation"))
        let id = try mark.read()
        #expect(try id.utf8.count == 32 && mark.read() == id)
        let attributes = try FileManager.default.attributesOfItem(atPath: mark.url.deletingLastPathComponent().path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        // With the app it goes, and the next one is another.
        try FileManager.default.removeItem(at: folder)
        #expect(try mark.read() != id)
    }

    @Test func aMarkThatCannotBeReadIsNotTakenForMissing() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appendingPathComponent("installation")
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: place)
        let error = #expect(throws: KeyStoreError.self) { try InstallationMark(url: place).read() }
        #expect(error?.code == .inputOutput)
    }
}

// MARK: In a separate process

private let now = Timestamp(milliseconds: 1_800_000_000_000)

private func openWithoutAFolder() throws {
    let topic = try Topic("com.example.app")
    unsafe unsetenv("PUSHCRYPT_KEYCHAIN")
    let error = #expect(throws: KeyStoreError.self) { try SharedKeyStore.open(for: topic) }
    #expect(error?.code == .missingEntitlement)
}

private func makeAndFindAKey(_ path: String) throws {
    let topic = try Topic("com.example.app")
    unsafe setenv("PUSHCRYPT_KEYCHAIN", path, 1)
    let made = try SharedKeyStore.open(for: topic).change { (state) throws(KeyStoreError) in try state.add(at: now) }
    #expect(try SharedKeyStore.open(for: topic).state().key(made.keyID, at: now)?.key.publicKey == made.publicKey)
    // Another app has another one.
    #expect(try SharedKeyStore.open(for: Topic("com.example.other")).load()?.state == nil)
}

private func readAnUnusedGroup(_ path: String) throws {
    unsafe setenv("PUSHCRYPT_APP_GROUPS", path, 1)
    let group = AppGroup(identifier: "group.com.example", topic: try Topic("com.example.app"))
    #expect(try group.journal().entries().isEmpty)
}

private func readAMissingGroup() throws {
    let topic = try Topic("com.example.app")
    unsafe unsetenv("PUSHCRYPT_APP_GROUPS")
    let error = #expect(throws: AppGroup.Missing.self) {
        try AppGroup(identifier: "group.com.example", topic: topic).journal()
    }
    #expect(error?.description.contains("group.com.example") == true)
}

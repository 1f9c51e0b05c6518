import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit
@testable import PushcryptKeyStore

@Suite struct PushKeysTests {
    /// `send --relay` and `answer fetch --follow` run for weeks: a key that was removed after a theft signs nothing more.
    @Test func theKeysAreReadAgainUntilTheyAreRemoved() throws {
        let captured = try CapturedConsole()
        let now = captured.console.timestamp
        let store = try SQLiteKeyStore.create(in: captured.directory.file("S"), passphrase: nil)
        #expect(throws: Failure.self) { try SendArguments.pushKeys(of: store, captured.console) }
        _ = try store.addPushKey(at: now)
        let keys = try SendArguments.pushKeys(of: store, captured.console)
        #expect(try keys().count == 1)
        _ = try store.addNextPushKey(at: now)
        #expect(try keys().count == 2)
        try store.removePushKey()
        #expect(throws: Failure.self) { try keys() }
    }
}

import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Stores that a passphrase opens.
struct PassphraseTests {
    private func passphrase(_ text: String) throws -> StorePassphrase { try StorePassphrase(Bytes(text.utf8).span) }

    private func create(_ scratch: Scratch, _ text: String) throws -> SQLiteKeyStore {
        try .create(in: scratch.store, passphrase: try passphrase(text), options: .quick)
    }

    private func open(_ scratch: Scratch, _ text: String?) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: try text.map(passphrase), options: .quick)
    }

    @Test func thePassphraseOpensTheStoreAndThereIsNoKeyFile() throws {
        let scratch = try Scratch()
        let key = DeviceKey()
        try create(scratch, "correct horse").add(key)
        #expect(try scratch.names().contains("store.key") == false)
        #expect(try open(scratch, "correct horse").keys().map(\.scalar) == [key.scalar])
    }

    @Test func anotherConnectionDerivesNoKey() throws {
        let scratch = try Scratch()
        let store = try create(scratch, "correct horse")
        let key = try store.add()
        #expect(try store.anotherConnection().keys() == [key])
    }

    @Test(arguments: ["correct horse ", "Correct horse", "correct hors", "correct horse\n", "x"])
    func anotherPassphraseOpensNothing(_ text: String) throws {
        let scratch = try Scratch()
        _ = try create(scratch, "correct horse")
        #expect(code { try open(scratch, text) } == .wrongPassphrase)
    }

    /// A caller that expects a passphrase must not be given another store in its place.
    @Test func aStoreWithAKeyFileTakesNoPassphrase() throws {
        let scratch = try Scratch()
        _ = try SQLiteKeyStore.create(in: scratch.store, passphrase: nil, options: .quick)
        #expect(code { try open(scratch, "correct horse") } == .wrongPassphrase)
        #expect(code { try open(scratch, nil) } == nil)
    }

    @Test func aPassphraseIsNotPrinted() throws {
        var dumped = ""
        let secret = try passphrase("correct horse")
        dump(secret, to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("correct"))
    }

    /// A hostile file must not take the machine, and must not make the owner spend the passphrase on a weak key.
    @Test(arguments: [
        "passes = 17", "passes = 0", "passes = -1", "passes = NULL", "memory = 1073741825", "memory = 1",
        "memory = -1", "memory = NULL", "salt = x'00'", "salt = zeroblob(17)", "salt = 'sixteen letters.'",
        "passes = 1.5",
    ])
    func aCostBeyondTheCeilingsIsNotPaid(_ change: String) throws {
        let scratch = try Scratch()
        _ = try create(scratch, "correct horse")
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0).execute(
            "UPDATE store SET \(change)")
        #expect(code { try open(scratch, "correct horse") } == .corruptStore)
    }

    @Test(arguments: ["passes = 2", "memory = 16384", "salt = zeroblob(16)"])
    func anotherCostOrSaltGivesAnotherKey(_ change: String) throws {
        let scratch = try Scratch()
        _ = try create(scratch, "correct horse")
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0).execute(
            "UPDATE store SET \(change)")
        #expect(code { try open(scratch, "correct horse") } == .wrongPassphrase)
    }

    @Test func aStoreWhosePassphraseWasTakenAwayDoesNotOpen() throws {
        let scratch = try Scratch()
        _ = try create(scratch, "correct horse")
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0).execute(
            "UPDATE store SET salt = NULL")
        #expect(code { try open(scratch, "correct horse") } == .wrongPassphrase)
        #expect(code { try open(scratch, nil) } == .storeKeyMissing)
    }

    @Test func theStandardCostIsThatOfASlowGuess() {
        #expect(StoreOptions().cost.passes == 3 && StoreOptions().cost.memory == 256 << 20)
    }
}

import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// While a batch runs, others change the store: what they change holds for the next line.
@Suite struct BatchStoreTests {
    /// A provider with a store, a phone, and a batch that runs.
    private final class Provider {
        let directory: TemporaryDirectory
        let store: SQLiteKeyStore
        let key: ProviderPublicKey
        let phone = DeviceKey()
        let program: RunningProgram
        private let topic: Topic

        init() throws {
            directory = try TemporaryDirectory()
            topic = try Topic("com.example.app")
            let now = Console.standard.timestamp
            store = try SQLiteKeyStore.create(in: directory.file("P"), passphrase: nil)
            key = try store.generateProviderKey(topic: topic, at: now).publicKey
            try store.addDevice(DeviceRegistration(publicKey: phone.publicKey, createdAt: now), id: "phone1", at: now)
            program = try RunningProgram(["--store", directory.file("P"), "seal", "--batch", "--jobs", "2"])
        }

        /// The code of an answer that is an error, or the epoch of the message and the placeholder's title.
        func answer(to device: String = "phone1") throws -> (code: String?, epoch: UInt32?, title: String?) {
            try program.send(#"{"to":"\#(device)","payload":{"aps":{"alert":"x"}}}"# + "\n")
            let line = try #require(try program.lines(1).first)
            let root = try JSONDocument(parsing: ContiguousArray(line.utf8)).root
            guard let payload = root["payload"] else { return (root["error"]?["code"]?.string, nil, nil) }
            let opener = Opener(topic: topic, deviceKeys: [phone], trust: ProviderTrust(pinned: [key]))
            let opened = try opener.open(ReceivedPush(payload.minified()).envelope(), at: Console.standard.timestamp)
            return (nil, opened.epoch, payload["aps"]?["alert"]?["title"]?.string)
        }
    }

    @Test("A device that is removed, and one that is added")
    func devices() throws {
        let provider = try Provider()
        let now = Console.standard.timestamp
        #expect(try provider.answer().code == nil)
        try provider.store.removeDevice(id: "phone1", at: now)
        #expect(try provider.answer().code == "removed-device")
        #expect(try provider.answer(to: "phone2").code == "unknown-device")
        let registration = DeviceRegistration(publicKey: provider.phone.publicKey, createdAt: now)
        try provider.store.addDevice(registration, id: "phone2", at: now)
        #expect(try provider.answer(to: "phone2").code == nil)
        try provider.store.removeDevice(id: "phone2", at: now)
        try provider.store.addDevice(registration, id: "phone1", at: now)
        #expect(try provider.answer().code == nil)
    }

    @Test("A key that is rotated signs the next message")
    func rotation() throws {
        let provider = try Provider()
        #expect(try provider.answer().epoch == 0)
        let new = try provider.store.rotateSigningKey(at: Console.standard.timestamp).epoch
        #expect(try provider.answer().epoch == new && new > 0)
    }

    @Test("A setting")
    func setting() throws {
        let provider = try Provider()
        #expect(try provider.answer().title == "New message")
        try provider.store.setSetting("Neue Nachricht", named: "placeholder-title")
        #expect(try provider.answer().title == "Neue Nachricht")
    }

    @Test(
        "A store that is restored from a backup is read again; one that is gone, or another, is an error in its place")
    func replaced() throws {
        let provider = try Provider()
        let (path, files) = (provider.directory.file("P"), FileManager.default)
        #expect(try provider.answer().epoch == 0)
        // As a backup is made: a copy of the database that has all of it.
        let backup = provider.directory.file("backup")
        try files.copyItem(atPath: path, toPath: backup)
        let new = try provider.store.rotateSigningKey(at: Console.standard.timestamp).epoch
        #expect(try provider.answer().epoch == new)

        try files.moveItem(atPath: path, toPath: provider.directory.file("away"))
        #expect(try provider.answer().code == "store-missing")
        try files.moveItem(atPath: backup, toPath: path)
        #expect(try provider.answer().epoch == 0)

        try files.moveItem(atPath: path, toPath: provider.directory.file("away2"))
        _ = try SQLiteKeyStore.create(in: path, passphrase: nil)
        let code = try provider.answer().code
        #expect(code == "wrong-passphrase")
        try provider.program.endInput()
        #expect(provider.program.end() == 1)
    }
}

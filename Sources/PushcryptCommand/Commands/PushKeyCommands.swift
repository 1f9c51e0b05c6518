internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

struct KeyNewPushCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "For a server whose app's publisher has a relay: 'device add --reply' then names the key, phones fetch grants for it, and 'send --relay' signs with it. A store has one. Prints the public key."
            ],
            examples: [Example("pushcrypt key new push")])
    }

    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let record = try store.add(PushKey(), console)
        try console.report(record, after: "made", asJSON: isJSON)
        return .done
    }
}

extension PushKeyRecord {
    /// The member of a registration reply.
    var json: String {
        var json = JSONWriter()
        json.object { json in json.string(publicKey.text, for: "push_key") }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension Console {
    /// Stores an imported push key.
    func keep(_ imported: PushKey, in arguments: NewKeyArguments) throws(CommandFailure) {
        try arguments.refuseAllButStore()
        let store = try open(arguments.store)
        let record = try store.add(imported, self)
        try report(record, after: "imported", asJSON: arguments.isJSON)
    }

    /// Prints a push key that was stored.
    fileprivate func report(_ record: PushKeyRecord, after verb: String, asJSON: Bool) throws(CommandFailure) {
        try write((asJSON ? record.json : record.publicKey.text) + "\n")
        changed("\(verb) push: push key \(PushKey.fingerprint(of: record.publicKey))")
    }
}

extension SQLiteKeyStore {
    /// The record of the push key.
    func ownPushKey() throws(CommandFailure) -> PushKeyRecord {
        let record = try withStoreErrors { () throws(KeyStoreError) in try pushKey() }
        guard let record else { throw .noPushKey }
        return record
    }

    fileprivate func add(_ key: PushKey, _ console: Console) throws(CommandFailure) -> PushKeyRecord {
        do throws(KeyStoreError) {
            return try addPushKey(key, at: console.timestamp)
        } catch {
            throw CommandFailure(
                error, hint: error.code == .nameTaken ? "pushcrypt key remove push, then add the new one" : nil)
        }
    }
}

extension CommandFailure {
    fileprivate static var noPushKey: CommandFailure {
        CommandFailure(KeyStoreError.noPushKey, hint: "pushcrypt key new push makes one")
    }
}

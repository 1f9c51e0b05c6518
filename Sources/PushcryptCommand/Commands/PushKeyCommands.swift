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

    func run(_ console: Console) throws -> ExitCode {
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
    func keep(_ imported: PushKey, in arguments: NewKeyArguments) throws {
        try arguments.refuseAllButStore()
        let store = try open(arguments.store)
        let record = try store.add(imported, self)
        try report(record, after: "imported", asJSON: arguments.isJSON)
    }

    /// Prints a push key that was stored.
    fileprivate func report(_ record: PushKeyRecord, after verb: String, asJSON: Bool) throws {
        try write((asJSON ? record.json : record.publicKey.text) + "\n")
        changed("\(verb) push: push key \(PushKey.fingerprint(of: record.publicKey))")
    }
}

extension SQLiteKeyStore {
    /// The record of the push key.
    func ownPushKey() throws -> PushKeyRecord {
        let record = try pushKey()
        guard let record else { throw Failure.noPushKey }
        return record
    }

    fileprivate func add(_ key: PushKey, _ console: Console) throws -> PushKeyRecord {
        do throws(KeyStoreError) {
            return try addPushKey(key, at: console.timestamp)
        } catch {
            throw Failure(
                error, hint: error.code == .nameTaken ? "pushcrypt key remove push, then add the new one" : nil)
        }
    }
}

extension Failure {
    fileprivate static var noPushKey: Failure {
        Failure(KeyStoreError.noPushKey, hint: "pushcrypt key new push makes one")
    }
}

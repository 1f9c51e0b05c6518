internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyNewPush = Command(
        "push", "create the push key, which signs requests to a relay",
        about: [
            "For a server whose app's publisher has a relay: 'device add --reply' then names the key, phones fetch grants for it, and 'send --relay' signs with it. A store has one. Prints the public key.",
            "With --next, the new key replaces the present one in 7 days. Until then phones fetch grants for both. Afterwards 'send' signs with the old key for phones that have sent no record since.",
        ], examples: ["pushcrypt key new push", "pushcrypt key new push --next"]
    ) { a in
        let isNext = a.flag("--next", help: "replace the present push key in 7 days")
        let store = StoreArguments(&a)
        let isJSON = a.json()
        return { console in
            let store = try console.open(store)
            let record = try store.add(PushKey(), isNext: isNext, console)
            try console.report(record, after: "made", asJSON: isJSON)
            return .done
        }
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
    func ownPushKey(at now: Timestamp) throws -> PushKeyRecord {
        let record = try pushKeys(at: now)?.current
        guard let record else { throw Failure.noPushKey }
        return record
    }

    fileprivate func add(
        _ key: PushKey, isNext: Bool = false, _ console: Console
    ) throws -> PushKeyRecord {
        let now = console.timestamp
        do throws(KeyStoreError) {
            return isNext ? try addNextPushKey(key, at: now) : try addPushKey(key, at: now)
        } catch {
            let hint: String? =
                switch error.code {
                case .nameTaken where isNext: "if a key was stolen: pushcrypt key remove push"
                case .nameTaken: "pushcrypt key new push --next replaces it"
                case .unknownName: "pushcrypt key new push makes one"
                default: nil
                }
            throw Failure(error, hint: hint)
        }
    }
}

extension Failure {
    fileprivate static var noPushKey: Failure {
        Failure(KeyStoreError.noPushKey, hint: "pushcrypt key new push makes one")
    }
}

import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The states of a store as somebody finds them who can write the database, and not more.
struct SealedStateTests {
    private let store: SQLiteKeyStore

    init() throws { store = try Self.filled() }

    private static func filled() throws -> SQLiteKeyStore {
        let store = try Home(.memory).store
        try store.add(to: "one")
        try store.rotate("one")
        _ = try store.generateProviderKey(named: "one", topic: .app, at: start)
        try store.rotateSigningKey(at: start)
        return store
    }

    private func row(of store: SQLiteKeyStore, _ name: String) throws -> (revision: Bytes, sealed: Bytes) {
        let rows = try store.read { (store) throws(KeyStoreError) in
            try store.connection.rows("SELECT revision, sealed FROM states WHERE name = ?", [.text(name)])
        }
        guard case .blob(let revision)? = rows.first?[0], case .blob(let sealed)? = rows.first?[1] else {
            throw Scratch.Unavailable()
        }
        return (revision, sealed)
    }

    private func use(_ name: String) throws {
        if name == "device" { _ = try store.load() } else { _ = try store.signer() }
    }

    /// The code of the next process that reads these values.
    private func refusal(_ name: String, _ revision: SQLiteValue, _ sealed: SQLiteValue) throws -> KeyStoreError.Code? {
        try store.write { (store) throws(KeyStoreError) in
            _ = try store.connection.rows(
                "UPDATE states SET revision = ?, sealed = ? WHERE name = ?", [revision, sealed, .text(name)])
        }
        store.states.forget()
        return code { try use(name) }
    }

    @Test(arguments: [("device", "provider"), ("provider", "device")])
    func aChangedStateIsNoticed(_ name: String, _ other: String) throws {
        let (revision, sealed) = try row(of: store, name)
        #expect(try refusal(name, .blob(revision), .blob(sealed)) == nil)
        for index in revision.indices {
            var changed = revision
            changed[index] ^= 0x10
            #expect(try refusal(name, .blob(changed), .blob(sealed)) == .corruptStore, "byte \(index) of the revision")
        }
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << UInt8(index % 8)
            #expect(try refusal(name, .blob(revision), .blob(changed)) == .corruptStore, "byte \(index)")
        }
        for count in sealed.indices {
            #expect(try refusal(name, .blob(revision), .blob(Bytes(sealed.prefix(count)))) == .corruptStore)
        }
        let theirs = try row(of: try Self.filled(), name)
        let beside = try row(of: store, other)
        let wrong: [(SQLiteValue, SQLiteValue)] = [
            (.blob(theirs.revision), .blob(theirs.sealed)), (.blob(revision), .blob(theirs.sealed)),
            (.blob(beside.revision), .blob(beside.sealed)), (.blob(revision), .blob(beside.sealed)),
            (.blob(revision), .blob(sealed + [0])), (.blob([]), .blob(sealed)),
            (.blob(revision + [0]), .blob(sealed)), (.text(revision), .blob(sealed)),
            (.blob(revision), .text(sealed)), (.integer(1), .blob(sealed)), (.blob(revision), .integer(1)),
        ]
        for (revision, sealed) in wrong { #expect(try refusal(name, revision, sealed) == .corruptStore) }
        #expect(code { try use(other) } == nil, "the other state is of use")
        #expect(error { try use(name) }?.description.contains("row '\(name)' of table states") == true)
        #expect(store.check().contains { $0.severity == .error })
        // Nothing is put in its place.
        if name == "device" {
            #expect(code { try store.add(to: "new") } == .corruptStore)
            #expect(code { try store.compareAndSwap(DeviceState(), replacing: nil) } == .corruptStore)
        } else {
            #expect(code { try store.generateProviderKey(named: "new", at: start) } == .corruptStore)
            #expect(code { try store.setSetting("x", named: "title") } == .corruptStore)
        }
        #expect(try refusal(name, .blob(revision), .blob(sealed)) == nil)
        #expect(try store.keys().count == 2 && store.providerKeys().count == 1)
    }

    /// A process uses the state that it read until somebody writes.
    @Test func aStateIsReadAgainWhenAnotherProcessHasChangedIt() throws {
        let home = try Home()
        _ = try home.store.generateProviderKey(at: start)
        let other = try home.reopened()
        #expect(try other.providerKey().name == "default" && other.setting(named: "title") == nil)
        try home.store.setSetting("a", named: "title")
        #expect(try other.setting(named: "title") == "a" && home.store.setting(named: "title") == "a")
        try other.setSetting("b", named: "title")
        #expect(try home.store.setting(named: "title") == "b")
        let revision = try row(of: home.store, "provider").revision
        try home.store.setSetting("b", named: "title")
        #expect(try row(of: home.store, "provider").revision == revision, "nothing changes, nothing is written")
    }

    @Test func aChangeThatFailsLeavesTheState() throws {
        let before = try store.provider()
        let failure = code {
            try store.changeProvider { (state) throws(KeyStoreError) in
                try state.rotate(nil, Rotation(), at: start)
                throw KeyStoreError(.inputOutput, "stop")
            }
        }
        #expect(failure == .inputOutput)
        let undone = code {
            try store.write { (store) throws(KeyStoreError) in
                try store.changeProvider { $0.settings["title"] = "a" }
                #expect(try store.provider().settings["title"] == "a", "a transaction sees its own change")
                throw KeyStoreError(.inputOutput, "stop")
            }
        }
        #expect(undone == .inputOutput)
        #expect(try store.provider() == before)
    }
}

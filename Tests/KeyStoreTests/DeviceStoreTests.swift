import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The promises of every place of a device's state: a change replaces the state that it was made from, or nothing.
struct DeviceStoreTests {
    @Test(arguments: DeviceStoreKind.allCases)
    func aStateReplacesTheOneWithItsRevisionAlone(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        #expect(try store.load() == nil && store.state() == DeviceState())
        var state = DeviceState()
        var revisions: [Bytes?] = [nil, Bytes(repeating: 0, count: 16)]
        #expect(try !store.compareAndSwap(state, replacing: revisions[1]))
        #expect(try store.load() == nil)
        for name in ["a", "b", "c"] {
            let present = try store.load()?.revision
            for revision in revisions where revision != present {
                #expect(try !store.compareAndSwap(DeviceState(), replacing: revision))
            }
            try state.add(to: name, at: start)
            #expect(try store.compareAndSwap(state, replacing: present))
            let found = try #require(try store.load())
            #expect(found.state == state && found.revision.count == 16 && !revisions.contains(found.revision))
            revisions.append(found.revision)
        }
        try store.discard()
        #expect(try store.load() == nil)
        for revision in revisions.dropFirst() {
            #expect(try !store.compareAndSwap(state, replacing: revision), "what is deleted stays deleted")
        }
        try store.discard()
        #expect(try store.compareAndSwap(state, replacing: nil) && store.state() == state)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func whatFailsOrChangesNothingWritesNothing(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        try store.change { _ in }
        #expect(try store.load() == nil)
        try store.add()
        let before = try #require(try store.load())
        let failure = code {
            try store.change { (state) throws(KeyStoreError) in
                try state.rotate(at: start)
                throw KeyStoreError(.inputOutput, "stop")
            }
        }
        #expect(failure == .inputOutput)
        #expect(code { try store.add() } == .nameTaken)
        #expect(try store.change { $0.purge(endedBefore: start) }.isEmpty)
        #expect(try store.load()?.revision == before.revision && store.state() == before.state)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func manyThreadsLoseNothing(_ kind: DeviceStoreKind) async throws {
        let (mine, theirs) = try kind.views()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                let store = writer % 2 == 0 ? mine : theirs
                group.addTask {
                    for round in 0..<3 {
                        let name = "\(writer).\(round)"
                        try patiently { () throws(KeyStoreError) in try store.add(to: name) }
                        try patiently { () throws(KeyStoreError) in try store.rotate(name) }
                        try patiently { () throws(KeyStoreError) in try store.confirm(name) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let states = try mine.state().accounts.map { $0.keys.map(\.state) }
        #expect(states == Array(repeating: [.retiring, .active], count: 12))
    }

    // MARK: Who can write the database

    /// Each byte of it, and what another store has sealed.
    @Test func aChangedStateOfThisDeviceIsNoticed() throws {
        let (store, other) = (try Home(.memory).store, try Home(.memory).store)
        for store in [store, other] {
            try store.add(to: "one")
            try store.rotate("one")
        }
        func row(of store: SQLiteKeyStore) throws -> (revision: Bytes, sealed: Bytes) {
            let row = try store.read { (store) throws(KeyStoreError) in
                try store.connection.rows("SELECT revision, sealed FROM states")
            }
            guard case .blob(let revision)? = row.first?[0], case .blob(let sealed)? = row.first?[1] else {
                throw Scratch.Unavailable()
            }
            return (revision, sealed)
        }
        /// The code of the next process that reads these values.
        func refusal(_ revision: SQLiteValue, _ sealed: SQLiteValue) throws -> KeyStoreError.Code? {
            try store.write { (store) throws(KeyStoreError) in
                _ = try store.connection.rows("UPDATE states SET revision = ?, sealed = ?", [revision, sealed])
            }
            store.cache.withLock { $0.revision = [] }
            return code { try store.load() }
        }
        let (revision, sealed) = try row(of: store)
        #expect(try refusal(.blob(revision), .blob(sealed)) == nil)
        for index in revision.indices {
            var changed = revision
            changed[index] ^= 0x10
            #expect(try refusal(.blob(changed), .blob(sealed)) == .corruptStore, "byte \(index) of the revision")
        }
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << UInt8(index % 8)
            #expect(try refusal(.blob(revision), .blob(changed)) == .corruptStore, "byte \(index)")
        }
        let theirs = try row(of: other)
        let wrong: [(SQLiteValue, SQLiteValue)] = [
            (.blob(theirs.revision), .blob(theirs.sealed)), (.blob(revision), .blob(theirs.sealed)),
            (.blob(revision), .blob(Bytes(sealed.dropLast()))), (.blob(revision), .blob(sealed + [0])),
            (.blob(revision), .blob([])), (.blob([]), .blob(sealed)), (.blob(revision + [0]), .blob(sealed)),
            (.text(revision), .blob(sealed)), (.blob(revision), .text(sealed)), (.integer(1), .blob(sealed)),
            (.blob(revision), .integer(1)),
        ]
        for (revision, sealed) in wrong { #expect(try refusal(revision, sealed) == .corruptStore) }
        // Nothing is put in its place.
        #expect(code { try store.add(to: "new") } == .corruptStore)
        #expect(code { try store.compareAndSwap(DeviceState(), replacing: nil) } == .corruptStore)
        #expect(try refusal(.blob(revision), .blob(sealed)) == nil && store.keys().count == 2)
    }
}

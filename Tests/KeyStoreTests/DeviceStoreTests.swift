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
    func failuresAndEmptyChangesWriteNothing(_ kind: DeviceStoreKind) throws {
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

    /// A place that another process has always changed since it was read.
    private struct Overtaken: DeviceStore {
        let store: any DeviceStore
        let other: any DeviceStore

        func load() throws(KeyStoreError) -> (state: DeviceState, revision: Bytes)? { try store.load() }

        func compareAndSwap(_ state: DeviceState, replacing revision: Bytes?) throws(KeyStoreError) -> Bool {
            try other.add(to: "\(other.state().accounts.count)")
            return try store.compareAndSwap(state, replacing: revision)
        }

        func discard() throws(KeyStoreError) { try store.discard() }
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aWriterThatIsAlwaysTooLateSaysSo(_ kind: DeviceStoreKind) throws {
        let (mine, theirs) = try kind.views()
        #expect(code { try Overtaken(store: mine, other: theirs).add(to: "mine") } == .storeBusy)
        #expect(try mine.state().account("mine") == nil && mine.keys().count == 20, "after 20 attempts")
    }
}

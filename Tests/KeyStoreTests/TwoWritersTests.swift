import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Two processes that change a device's state at once: wherever one comes in between, it is as if one had come after the other.
struct TwoWritersTests {
    /// An action of a writer, with keys of its own.
    private struct Operation: Sendable {
        let name: String
        let body: @Sendable (inout DeviceState, Writer) throws(KeyStoreError) -> DevicePublicKey?

        /// Runs on a value; returns the result as a word.
        func run(_ writer: Writer, on state: inout DeviceState) -> String {
            Self.word { () throws(KeyStoreError) in try body(&state, writer) }
        }

        func run(_ writer: Writer, in store: any DeviceStore) -> String {
            Self.word { () throws(KeyStoreError) in
                try store.change { (state) throws(KeyStoreError) in try body(&state, writer) }
            }
        }

        private static func word(_ body: () throws(KeyStoreError) -> DevicePublicKey?) -> String {
            do throws(KeyStoreError) {
                return try body()?.description ?? "nothing"
            } catch {
                return error.code.description
            }
        }
    }

    private struct Writer: Sendable {
        let first = DeviceKey()
        let next = DeviceKey()
        let provider = ProviderKey().publicKey
        let certificate: Certificate
        let topic: Topic

        /// A certificate that is the higher one, or the one with the higher floor.
        init(isMine: Bool) throws {
            certificate = try isMine ? TestProvider().certificate(9) : TestProvider().certificate(5, floor: 5)
            topic = try .app
        }
    }

    private static let operations = [
        Operation(name: "adds") { (state, writer) throws(KeyStoreError) in
            try state.add(writer.first, to: "new", at: start).publicKey
        },
        Operation(name: "rotates") { (state, writer) throws(KeyStoreError) in
            try state.rotate("anna", suite: nil, at: start) { _ in writer.next }.publicKey
        },
        Operation(name: "confirms") { (state, _) throws(KeyStoreError) in
            try state.confirm("anna", at: start)?.publicKey
        },
        Operation(name: "pins") { (state, writer) throws(KeyStoreError) in
            try state.pin(ProviderPin(writer.provider), for: "anna")
            return nil
        },
        Operation(name: "learns") { (state, writer) throws(KeyStoreError) in
            try state.learn(writer.certificate, of: OneProvider.key.publicKey, topic: writer.topic)
            return nil
        },
        Operation(name: "logs out") { (state, _) throws(KeyStoreError) in state.removeAccount("anna").last?.publicKey },
        Operation(name: "looks") { (state, _) throws(KeyStoreError) in
            try state.accountWithKeys("anna").keys[0].publicKey
        },
    ]

    /// A store whose caller another process interrupts before one of its calls, or before each.
    private final class Interrupted: DeviceStore {
        private final class Count { var calls = 0 }

        private let store: any DeviceStore
        private let place: Int?
        private let count = Locked(Count())
        private let other: @Sendable () -> Void

        init(_ store: any DeviceStore, before place: Int?, _ other: @escaping @Sendable () -> Void) {
            (self.store, self.place, self.other) = (store, place, other)
        }

        private func pass() {
            let call = count.withLock { count in
                defer { count.calls += 1 }
                return count.calls
            }
            if place == nil || call == place { other() }
        }

        func load() throws(KeyStoreError) -> (state: DeviceState, revision: Bytes)? {
            pass()
            return try store.load()
        }

        func compareAndSwap(_ state: DeviceState, replacing revision: Bytes?) throws(KeyStoreError) -> Bool {
            pass()
            return try store.compareAndSwap(state, replacing: revision)
        }

        func discard() throws(KeyStoreError) { try store.discard() }
    }

    /// Wherever one of them comes in between, as if one had come after the other.
    @Test(arguments: DeviceStoreKind.allCases)
    func twoWritersAreOneAfterTheOther(_ kind: DeviceStoreKind) throws {
        let (mine, theirs) = try kind.views()
        var settled = DeviceState()
        try settled.add(to: "anna", at: start)
        var rotated = settled
        try rotated.rotate(at: start)
        for begin in [nil, settled, rotated] {
            for first in Self.operations {
                for second in Self.operations {
                    let (me, them) = (try Writer(isMine: true), try Writer(isMine: false))
                    let expected = [true, false].map { isMineFirst in
                        var state = begin ?? DeviceState()
                        var (a, b) = ("", "")
                        if isMineFirst { a = first.run(me, on: &state) }
                        b = second.run(them, on: &state)
                        if !isMineFirst { a = first.run(me, on: &state) }
                        return (a, b, state)
                    }
                    for place in 0..<3 {
                        try mine.discard()
                        if let begin { try #require(try mine.compareAndSwap(begin, replacing: nil)) }
                        final class Word { var text: String? }
                        let word = Locked(Word())
                        let interrupted = Interrupted(mine, before: place) {
                            let result = second.run(them, in: theirs)
                            word.withLock { $0.text = result }
                        }
                        let a = first.run(me, in: interrupted)
                        // Nobody came in between: the first one made fewer calls.
                        let b = word.withLock { $0.text } ?? second.run(them, in: theirs)
                        let state = try mine.state()
                        #expect(
                            expected.contains { $0 == (a, b, state) },
                            "\(first.name), \(second.name) before call \(place)")
                        #expect(try theirs.state() == state)
                    }
                }
            }
        }
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aWriterThatIsAlwaysTooLateSaysSo(_ kind: DeviceStoreKind) throws {
        let (mine, theirs) = try kind.views()
        let numbers = Locked(Numbers())
        let interrupted = Interrupted(mine, before: nil) {
            _ = try? theirs.add(to: "\(numbers.withLock { $0.next() })")
        }
        #expect(code { try interrupted.add(to: "mine") } == .storeBusy)
        #expect(try mine.state().account("mine") == nil && mine.keys().count == 40, "after 20 attempts")
    }

    private final class Numbers {
        private var number = 0
        func next() -> Int {
            number += 1
            return number
        }
    }
}

import Testing

/// Suites of which one runs at a time: they share the notification center of the process, and what it shows.
struct OneAtATime: SuiteTrait, TestScoping {
    private actor Turn {
        private var isTaken = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func take() async {
            guard isTaken else {
                isTaken = true
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        func pass() { if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() } }
    }

    private static let turn = Turn()

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.turn.take()
        do { try await function() } catch {
            await Self.turn.pass()
            throw error
        }
        await Self.turn.pass()
    }
}

extension Trait where Self == OneAtATime {
    static var oneAtATime: Self { Self() }
}

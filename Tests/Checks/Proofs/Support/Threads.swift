import Dispatch
import Synchronization

/// Runs `body` for each number below `count`, on every processor, in order of the numbers; the failure with the lowest number
/// ends it.
func onEveryProcessor(count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let state = Mutex<(next: Int, failure: (number: Int, error: any Error)?)>((0, nil))
    DispatchQueue.concurrentPerform(iterations: processors) { _ in
        while let number = state.withLock({ state -> Int? in
            guard state.failure == nil, state.next < count else { return nil }
            defer { state.next += 1 }
            return state.next
        }) {
            do {
                try body(number)
            } catch {
                state.withLock { state in
                    if state.failure.map({ number < $0.number }) ?? true { state.failure = (number, error) }
                }
            }
        }
    }
    if let failure = state.withLock({ $0.failure }) { throw failure.error }
}

/// How many threads compute at the same time.
let processors = 2

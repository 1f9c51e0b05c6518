internal import Dispatch
internal import Foundation

/// Work during which the system should not suspend this process. Best effort; the system may answer too late. Not run on Apple
/// systems.
struct ExpiringActivity: Sendable {
    /// Asks the system, which calls the block on another thread and does not suspend the process until the block returns;
    /// it calls the block with true, perhaps once more, when no time is left.
    let begin: @Sendable (_ reason: String, _ block: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void

    #if os(iOS) || os(visionOS)
        static let system = ExpiringActivity {
            ProcessInfo.processInfo.performExpiringActivity(withReason: $0, using: $1)
        }
    #else
        // Nothing is suspended there.
        static let system = ExpiringActivity { _, _ in }
    #endif

    /// Runs work. Ends the activity once, when the work is over.
    ///
    /// - Parameter expired: Called on another thread, during the work, if no time is left: it makes the work end.
    func run<Result, Failure: Error>(
        _ reason: String, expired: @escaping @Sendable () -> Void, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let end = DispatchGroup()
        end.enter()
        defer { end.leave() }
        begin(reason) { isExpired in
            // The process may be suspended when the block returns.
            guard isExpired else { return end.wait() }
            if end.wait(timeout: .now()) == .timedOut { expired() }
            _ = end.wait(timeout: .now() + .seconds(1))
        }
        return try work()
    }
}

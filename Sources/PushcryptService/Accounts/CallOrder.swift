internal import PushcryptKeyStore

/// The order of the updates and log-outs that the app has requested, of all objects.
///
/// An update that was requested before a log-out may reach the queue after it: it must not register the account again.
enum CallOrder {
    /// A moment between two log-outs.
    struct Call {
        fileprivate let logOuts: Int
    }

    private struct LogOuts {
        var count = 0
        /// The number of each account's last one.
        var last: [ContiguousArray<UInt8>: Int] = [:]
    }

    private static let logOuts = Locked(LogOuts())

    /// The present moment.
    static var now: Call { Call(logOuts: logOuts.withLock { $0.count }) }

    /// Notes that an account is to be logged out.
    static func noteLogOut(_ account: String) {
        logOuts.withLock {
            $0.count += 1
            $0.last[ContiguousArray(account.utf8)] = $0.count
        }
    }

    /// Whether a log-out of the account was requested since.
    static func isLoggedOut(_ account: String, since call: Call) -> Bool {
        logOuts.withLock { $0.last[ContiguousArray(account.utf8)] ?? 0 } > call.logOuts
    }
}

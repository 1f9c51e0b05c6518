internal import Pushcrypt
internal import PushcryptCommandKit

/// Work on a separate thread, which ends with the work or with the process.
enum Thread {
    /// Starts `body`; throws if the system has no thread left.
    static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let code = SystemThread.start(body)
        guard code == 0 else { throw SystemError(code: code) }
    }
}

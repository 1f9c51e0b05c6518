#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What a failed system call left in `errno`.
struct SystemError: Error, Equatable {
    let code: Int32

    /// Takes the code of the call that has just failed on this thread.
    static var last: SystemError { SystemError(code: errno) }

    static let notFound = SystemError(code: ENOENT)
    static let readerIsGone = SystemError(code: EPIPE)
    static let timedOut = SystemError(code: ETIMEDOUT)
    /// The other end has closed the connection.
    static let connectionEnded = SystemError(code: ECONNRESET)

    /// The system's own words in the style of this program's messages: "no space left on device".
    var text: String {
        guard let words = unsafe strerror(code) else { return "system error \(code)" }
        let text = unsafe String(cString: words)
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}

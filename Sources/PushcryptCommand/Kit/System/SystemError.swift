#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The `errno` of a failed system call.
package struct SystemError: Error, Equatable {
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The error of the call that has just failed on this thread.
    package static var last: SystemError { SystemError(code: errno) }

    package static let notFound = SystemError(code: ENOENT)
    package static let readerIsGone = SystemError(code: EPIPE)

    /// The system's text in the style of this program's messages: "no space left on device".
    package var text: String {
        guard let words = unsafe strerror(code) else { return "system error \(code)" }
        let text = unsafe String(cString: words)
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}

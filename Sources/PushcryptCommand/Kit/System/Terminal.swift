#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The terminal of the process, even if the standard streams are redirected; asks the user for a passphrase,
/// or to agree.
package enum Terminal {
    /// The outcome of a question.
    package enum Answer: Equatable {
        /// The line's length in bytes, without its newline.
        case line(Int)
        /// The line was too long.
        case tooLong
        /// The terminal was closed, or the user ended the input.
        case ended
    }

    /// Asks for a line, and reads it directly into `line`; shows what is typed unless `isHidden` is true.
    ///
    /// Echo is on again before this returns, and before a signal ends or stops the process. After a stop the question is
    /// repeated.
    package static func ask(
        _ question: String, at path: String, isHidden: Bool = true, into line: inout MutableSpan<UInt8>
    ) throws(SystemError) -> Answer {
        let file = try OpenFile(path, flags: O_RDWR | O_NOCTTY)
        while true {
            if let answer = try file.descriptor.askOnce(question, isHidden: isHidden, into: &line) { return answer }
        }
    }
}

/// The external signals that end or stop a process, and would leave the terminal without echo.
private let deferredSignals = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP]

extension Descriptor {
    /// Returns nil if a signal came first. It takes effect when this returns, and the process may survive it.
    fileprivate func askOnce(
        _ question: String, isHidden: Bool = true, into line: inout MutableSpan<UInt8>
    ) throws(SystemError) -> Terminal.Answer? {
        var shown = termios()
        guard unsafe tcgetattr(number, &shown) == 0 else { throw .last }
        var changed = shown
        if isHidden { changed.c_lflag &= ~tcflag_t(ECHO) }
        changed.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)

        // The signals are blocked until echo is restored. There is no handler, so nothing has to be async-signal-safe.
        var deferred = sigset_t()
        var before = sigset_t()
        _ = unsafe sigemptyset(&deferred)
        for signal in deferredSignals { _ = unsafe sigaddset(&deferred, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &deferred, &before)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        // Discards input that was typed or pasted before the question appeared.
        guard unsafe tcsetattr(number, TCSAFLUSH, &changed) == 0 else { throw .last }
        defer { _ = unsafe tcsetattr(number, TCSAFLUSH, &shown) }

        try writeAll(ContiguousArray(question.utf8).span)
        // A signal that the caller already blocks would never take effect, and the question would never end.
        let ending = deferredSignals.filter { unsafe sigismember(&before, $0) == 0 }
        let answer = try readLine(into: &line, unlessOneOf: ending)
        // The next output, such as a shell's prompt, starts on a new line.
        if answer == nil { try writeAll(ContiguousArray("\n".utf8).span) }
        return answer
    }

    private func readLine(
        into line: inout MutableSpan<UInt8>, unlessOneOf signals: [Int32]
    ) throws(SystemError) -> Terminal.Answer? {
        var length = 0
        while !isWaiting(anyOf: signals) {
            var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&request, 1, 100) > 0 else { continue }
            // A terminal delivers one line at a time, so a newline is always the last byte.
            let count = try readSome(into: &line, from: length)
            if count == 0 { return length == 0 ? .ended : .line(length) }
            length += count
            if line[length - 1] == UInt8(ascii: "\n") { return .line(length - 1) }
            if length == line.count { return .tooLong }
        }
        return nil
    }

    private func isWaiting(anyOf signals: [Int32]) -> Bool {
        var waiting = sigset_t()
        guard unsafe sigpending(&waiting) == 0 else { return false }
        return signals.contains { unsafe sigismember(&waiting, $0) == 1 }
    }
}

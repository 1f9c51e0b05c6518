// The Darwin branches were typechecked on Linux and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A request to end work that reads input, by a signal or from within this process.
///
/// It is a pipe that becomes readable, so that a thread can wait for it and for input at once.
package final class StopSignal: Sendable {
    private let reader: OpenFile
    private let writer: OpenFile
    /// Whether the signal was SIGINT, as control-c on a terminal sends it.
    private let interruption = Monitor(false)

    package init() throws(SystemError) {
        let pipe = try PipeEnds()
        reader = pipe.reader
        writer = pipe.writer
    }

    /// The descriptor that becomes readable, and remains so.
    package var descriptor: Descriptor { reader.descriptor }

    /// Requests the end. Can be called on any thread, and repeatedly.
    package func raise() {
        var byte: UInt8 = 0
        // If the pipe is full, the end was requested before.
        _ = unsafe write(writer.descriptor.number, &byte, 1)
    }

    /// Whether the end was requested.
    package var isRaised: Bool {
        var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    /// Whether the end was requested with SIGINT, as control-c on a terminal does.
    package var isInterrupted: Bool { interruption.change { $0 } }

    /// Handles SIGINT, SIGTERM and SIGHUP from now on: the first requests the end, the second ends the process at once, unless it comes
    /// within a second: `timeout` signals a process and then its group. A signal that this process ignores remains ignored.
    ///
    /// The signals are blocked on this thread and on those that it starts, and a separate thread waits for them, so nothing
    /// runs inside a signal handler.
    package func raiseOnSignals(
        waitingOn startThread: (@escaping @Sendable () -> Void) -> Int32
    ) throws(SystemError) {
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        let caught = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
        guard !caught.isEmpty else { return }
        for signal in caught { _ = unsafe sigaddset(&signals, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let waited = signals
        let code = startThread {
            if Self.wait(for: waited) == SIGINT { self.interruption.change { $0 = true } }
            self.raise()
            let end = SystemEnvironment.uptime() + 1000
            var second = Self.wait(for: waited)
            while SystemEnvironment.uptime() < end { second = Self.wait(for: waited) }
            var ending = sigset_t()
            _ = unsafe sigemptyset(&ending)
            _ = unsafe sigaddset(&ending, second)
            _ = unsafe pthread_sigmask(SIG_UNBLOCK, &ending, nil)
            _ = kill(getpid(), second)
        }
        guard code == 0 else { throw SystemError(code: code) }
    }

    @discardableResult
    private static func wait(for signals: sigset_t) -> Int32 {
        var signals = signals
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 {}
        return signal
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        #if canImport(Darwin)
            let handler = unsafe action.__sigaction_u.__sa_handler
        #elseif canImport(Musl)
            let handler = unsafe action.__sa_handler.sa_handler
        #else
            let handler = unsafe action.__sigaction_handler.sa_handler
        #endif
        let ignoring = SIG_IGN
        return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(ignoring, to: Int.self)
    }
}

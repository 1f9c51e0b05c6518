#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file descriptor: a standard stream, or one that an `OpenFile` closes.
///
/// Every call is repeated after an interruption, and waits even if another process made the descriptor non-blocking.
package struct Descriptor: Sendable, Equatable {
    package let number: Int32

    package init(number: Int32) { self.number = number }

    package static let standardInput = Descriptor(number: 0)
    package static let standardOutput = Descriptor(number: 1)
    package static let standardError = Descriptor(number: 2)

    package var isTerminal: Bool { isatty(number) == 1 }

    /// The size of a regular file in bytes; nil for pipes, terminals and similar.
    package var regularFileSize: Int? {
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Whether users other than its owner may read or write the file.
    package var isFileOpenToOthers: Bool { grants(0o066) }

    /// Whether every user of the machine may read or write the file.
    package var isFileOfEverybody: Bool { grants(0o006) }

    private func grants(_ permissions: mode_t) -> Bool {
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return status.st_mode & permissions != 0
    }

    /// Reads available bytes into `span` from `start` on, which must not be the end; returns 0 at the end of the input.
    package func readSome(into span: inout MutableSpan<UInt8>, from start: Int) throws(SystemError) -> Int {
        while true {
            let count = unsafe span.withUnsafeMutableBufferPointer { buffer in
                let rest = unsafe UnsafeMutableBufferPointer(rebasing: buffer[start...])
                return unsafe read(number, rest.baseAddress, rest.count)
            }
            if count >= 0 { return count }
            try waitAfterFailure(until: POLLIN)
        }
    }

    /// Like `readSome`, but returns nil as soon as `stop` is readable.
    package func readSome(
        into span: inout MutableSpan<UInt8>, from start: Int, unless stop: Descriptor
    ) throws(SystemError) -> Int? {
        while true {
            var requests = [self, stop].map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
            if unsafe poll(&requests, nfds_t(requests.count), -1) >= 0 {
                if requests[1].revents != 0 { return nil }
                return try readSome(into: &span, from: start)
            }
            guard errno == EINTR else { throw .last }
        }
    }

    /// Asks Linux to buffer this many bytes in a pipe, instead of 64 KiB. A refusal is ignored.
    package func enlargePipe(to bytes: Int32) {
        #if os(Linux)
            // F_SETPIPE_SZ, which is not imported.
            _ = fcntl(number, 1031, bytes)
        #endif
    }

    /// Waits for input or its end; returns false if neither comes in time.
    package func isReadable(withinMilliseconds time: Int32) throws(SystemError) -> Bool {
        let end = SystemEnvironment.uptime() + UInt64(max(0, time))
        while true {
            var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let now = SystemEnvironment.uptime()
            let count = unsafe poll(&request, 1, now < end ? Int32(clamping: end - now) : 0)
            if count >= 0 { return count > 0 }
            guard errno == EINTR else { throw .last }
        }
    }

    /// Writes all of `bytes`, in several calls if necessary.
    package func writeAll(_ bytes: Span<UInt8>) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let rest = bytes.extracting(written...)
            let count = unsafe rest.withUnsafeBufferPointer { unsafe write(number, $0.baseAddress, $0.count) }
            if count >= 0 { written += count } else { try waitAfterFailure(until: POLLOUT) }
        }
    }

    private func waitAfterFailure(until event: Int32) throws(SystemError) {
        let error = SystemError.last
        if error.code == EINTR { return }
        guard error.code == EAGAIN || error.code == EWOULDBLOCK else { throw error }
        var request = pollfd(fd: number, events: Int16(event), revents: 0)
        guard unsafe poll(&request, 1, -1) >= 0 || errno == EINTR else { throw .last }
    }
}

/// A descriptor that is closed at the end of its scope.
package struct OpenFile: ~Copyable {
    package let descriptor: Descriptor

    /// Opens a path, relative to `directory` if one is given. Other programs do not inherit the descriptor.
    package init(_ path: String, in directory: Descriptor? = nil, flags: Int32, mode: UInt32 = 0) throws(SystemError) {
        while true {
            let number = unsafe openat(
                directory?.number ?? AT_FDCWD, path, flags | O_CLOEXEC, mode_t(mode))
            if number >= 0 {
                descriptor = Descriptor(number: number)
                return
            }
            guard errno == EINTR else { throw .last }
        }
    }

    /// Adopts an open descriptor.
    package init(adopting descriptor: Descriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // Callers who must know that everything was stored call fsync first, so the result of close adds nothing.
        _ = close(descriptor.number)
    }
}

/// A pipe that other programs do not inherit.
package struct PipeEnds: ~Copyable {
    package let reader: OpenFile
    package let writer: OpenFile

    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .last }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = OpenFile(adopting: Descriptor(number: ends[0]))
        writer = OpenFile(adopting: Descriptor(number: ends[1]))
    }
}

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

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file descriptor: one of the process's own, or one that an `OpenFile` closes.
///
/// Every call is made again after an interruption, and waits where the other end made the descriptor non-blocking.
package struct Descriptor: Sendable, Equatable {
    package let number: Int32

    package init(number: Int32) { self.number = number }

    package static let standardInput = Descriptor(number: 0)
    package static let standardOutput = Descriptor(number: 1)
    package static let standardError = Descriptor(number: 2)

    /// Whether a person sits at the other end.
    package var isTerminal: Bool { isatty(number) == 1 }

    /// The size in bytes that a regular file claims; nil for pipes, terminals and the like.
    package var regularFileSize: Int? {
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Whether this is a file that others than its owner may read or write.
    package var isFileOpenToOthers: Bool { grants(S_IRWXG | S_IRWXO) }

    /// Whether this is a file that every user of the machine may read or write.
    package var isFileOfEverybody: Bool { grants(S_IRWXO) }

    private func grants(_ permissions: mode_t) -> Bool {
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return status.st_mode & permissions != 0
    }

    /// Reads what is there into the part of `span` from `start` on, which is not empty; 0 at the end of the input.
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

    /// As `readSome`, or nil as soon as `stop` has something to read.
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

    /// Writes all of `bytes`, in as many steps as the system takes them.
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

/// A descriptor that is closed when its owner goes out of scope.
package struct OpenFile: ~Copyable {
    package let descriptor: Descriptor

    /// Opens a path, relative to `directory` if one is given. The descriptor is not inherited by other programs.
    package init(_ path: String, in directory: Descriptor? = nil, flags: Int32, mode: UInt32 = 0) throws(SystemError) {
        while true {
            let number = unsafe openat(directory?.number ?? AT_FDCWD, path, flags | O_CLOEXEC, mode_t(mode))
            if number >= 0 {
                descriptor = Descriptor(number: number)
                return
            }
            guard errno == EINTR else { throw .last }
        }
    }

    /// Takes a descriptor over from whoever opened it.
    package init(adopting descriptor: Descriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // Whoever must know that everything was stored calls fsync first; nothing is left to learn from close.
        _ = close(descriptor.number)
    }
}

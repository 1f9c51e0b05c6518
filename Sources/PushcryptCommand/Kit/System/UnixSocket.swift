// The Darwin branches were typechecked on Linux and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A connection to a program that listens on a Unix stream socket. No call waits beyond its deadline.
package struct UnixSocket: ~Copyable {
    private let file: OpenFile

    /// The operations that are possible without waiting.
    package struct Readiness {
        package let canRead: Bool
        package let canWrite: Bool
    }

    /// Connects. Waits until `deadline`, an uptime, for a program that listens but does not accept.
    ///
    /// - Throws: `ETIMEDOUT` after the deadline, `ENAMETOOLONG` for a path that is too long for a socket, or the system's error.
    package init(connectingTo path: String, deadline: UInt64) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        // The last byte remains 0.
        guard !path.isEmpty, path.utf8.count < room else { throw SystemError(code: ENAMETOOLONG) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }

        let file = try Self.makeSocket()
        while true {
            let code = unsafe withUnsafePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe connect(file.descriptor.number, address, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if code == 0 { break }
            let error = SystemError.last
            // The queue of connections is full. Linux has no way to wait for it, so try again.
            guard error.code == EAGAIN || error.code == EINTR else { throw error }
            guard SystemEnvironment.uptime() < deadline else { throw .timedOut }
            SystemEnvironment.sleep(milliseconds: 10)
        }
        self.file = file
    }

    private static func makeSocket() throws(SystemError) -> OpenFile {
        #if canImport(Darwin)
            let number = socket(AF_UNIX, SOCK_STREAM, 0)
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(number, F_SETFL, O_NONBLOCK)
        #else
            let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let number = socket(AF_UNIX, Int32(flags), 0)
        #endif
        guard number >= 0 else { throw .last }
        return OpenFile(adopting: Descriptor(number: number))
    }

    /// Waits until the socket is readable or, if requested, writable. Throws `ETIMEDOUT` at `deadline`, an uptime.
    package func wait(toWrite: Bool, deadline: UInt64) throws(SystemError) -> Readiness {
        let events = toWrite ? POLLIN | POLLOUT : POLLIN
        while true {
            let now = SystemEnvironment.uptime()
            guard now < deadline else { throw .timedOut }
            var request = pollfd(fd: file.descriptor.number, events: Int16(events), revents: 0)
            let count = unsafe poll(&request, 1, Int32(clamping: deadline - now))
            if count > 0 {
                let happened = Int32(request.revents)
                // A read reports the end or the error.
                return Readiness(canRead: happened & ~POLLOUT != 0, canWrite: happened & POLLOUT != 0)
            }
            guard count == 0 || errno == EINTR else { throw .last }
        }
    }

    /// Reads available bytes into `span` from `start` on, which must not be the end; returns 0 if there are none.
    ///
    /// - Throws: `connectionEnded` at the end.
    package func read(into span: inout MutableSpan<UInt8>, from start: Int) throws(SystemError) -> Int {
        let count = unsafe span.withUnsafeMutableBufferPointer { buffer in
            let rest = unsafe UnsafeMutableBufferPointer(rebasing: buffer[start...])
            return unsafe recv(file.descriptor.number, rest.baseAddress, rest.count, 0)
        }
        if count > 0 { return count }
        guard count < 0 else { throw .connectionEnded }
        let error = SystemError.last
        guard error.code == EAGAIN || error.code == EINTR else { throw error }
        return 0
    }

    #if canImport(Darwin)
        private static let sendFlags: Int32 = 0
    #else
        /// A closed connection is an error instead of a signal.
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    /// Writes as much of `bytes` from `start` on as the system accepts; returns the count.
    package func write(_ bytes: ContiguousArray<UInt8>, from start: Int) throws(SystemError) -> Int {
        let count = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe send(
                file.descriptor.number, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start,
                Self.sendFlags)
        }
        if count >= 0 { return count }
        let error = SystemError.last
        guard error.code == EAGAIN || error.code == EINTR else { throw error }
        return 0
    }
}

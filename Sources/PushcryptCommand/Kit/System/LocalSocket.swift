#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A Unix socket that listens at a path, with mode 0660.
package struct LocalSocket: ~Copyable {
    /// The connections that wait.
    private static let backlog: Int32 = 64

    private let path: String
    private let file: OpenFile

    /// Listens. A socket that a killed process has left is replaced.
    ///
    /// - Throws: `EADDRINUSE` if a process listens there or the path is another file, `ENAMETOOLONG` for a path of more than
    ///   about 100 bytes.
    package init(_ path: String) throws(SystemError) {
        let own = try Self.open()
        let number = own.descriptor.number
        if try unsafe Self.call(path, { unsafe connect(number, $0, $1) }) == 0 { throw SystemError(code: EADDRINUSE) }
        // Linux also refuses a connection to any other kind of file: such a file stays, and counts as in use.
        if errno == ECONNREFUSED, Self.isSocket(path) { _ = unsafe unlink(path) }
        // Nobody else may connect between both calls.
        let mask = umask(0o117)
        let code = try unsafe Self.call(path) { unsafe bind(number, $0, $1) }
        let error = SystemError.last
        umask(mask)
        guard code == 0 else { throw error }
        guard listen(number, Self.backlog) == 0 else { throw .last }
        self.path = path
        file = own
    }

    deinit { _ = unsafe unlink(path) }

    /// Waits for a connection; returns nil as soon as `stop` is readable.
    package func next(unless stop: Descriptor) throws(SystemError) -> OpenFile? {
        while true {
            var requests = [file.descriptor, stop].map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
            if unsafe poll(&requests, nfds_t(requests.count), -1) >= 0 {
                if requests[1].revents != 0 { return nil }
                let number = accept(file.descriptor.number, nil, nil)
                if number >= 0 {
                    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
                    return OpenFile(adopting: Descriptor(number: number))
                }
            }
            // A client may have gone; when descriptors are missing, some will come back.
            guard [EINTR, ECONNABORTED, EAGAIN, EMFILE, ENFILE].contains(errno) else { throw .last }
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func open() throws(SystemError) -> OpenFile {
        #if canImport(Darwin)
            let number = socket(AF_UNIX, SOCK_STREAM, 0)
        #else
            let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard number >= 0 else { throw .last }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        return OpenFile(adopting: Descriptor(number: number))
    }

    private static func call(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = ContiguousArray(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw SystemError(code: ENAMETOOLONG) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}

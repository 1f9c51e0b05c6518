#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif
internal import Pushcrypt

extension KeyStoreError {
    /// Creates the error for a failed system call; `action` says what could not be done.
    static func system(_ code: Int32, _ action: String) -> KeyStoreError {
        guard code != ENOSPC, code != EDQUOT else {
            return KeyStoreError(.diskFull, "cannot \(action): the disk is full; free some space and try again")
        }
        let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return KeyStoreError(.inputOutput, "cannot \(action): \(reason)")
    }
}

/// The properties of a file; of a symbolic link, those of the file that it leads to.
struct FileFacts {
    let mode: mode_t
    let links: UInt64
    let size: Int64
    let identity: FileIdentity
    /// When the file or its properties last changed, in seconds and nanoseconds.
    let changedAt: [Int]

    var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    var isRegular: Bool { mode & S_IFMT == S_IFREG }
    /// Whether others than its owner may read or write it.
    var isOpenToOthers: Bool { mode & 0o066 != 0 }
    /// The mode in the form `chmod` accepts.
    var permissions: String { "0" + String(mode & 0o7777, radix: 8) }

    /// Gets the properties of a path; nil if it does not exist.
    init?(at path: String) throws(KeyStoreError) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .system(errno, "access \(path)") }
            return nil
        }
        self.init(facts)
    }

    /// Gets the properties of an open file.
    init(of descriptor: borrowing Descriptor) throws(KeyStoreError) {
        var facts = stat()
        guard unsafe fstat(descriptor.number, &facts) == 0 else { throw .system(errno, "access \(descriptor.path)") }
        self.init(facts)
    }

    /// Refuses a directory, a pipe and a device.
    func requireRegular(_ path: String) throws(KeyStoreError) {
        guard isRegular else { throw KeyStoreError(.inputOutput, "\(path) is not a regular file") }
    }

    private init(_ facts: stat) {
        mode = facts.st_mode
        links = UInt64(facts.st_nlink)
        size = Int64(facts.st_size)
        identity = FileIdentity(device: UInt64(truncatingIfNeeded: facts.st_dev), number: UInt64(facts.st_ino))
        #if canImport(Darwin)
            changedAt = [Int(facts.st_ctimespec.tv_sec), Int(facts.st_ctimespec.tv_nsec)]
        #else
            changedAt = [Int(facts.st_ctim.tv_sec), Int(facts.st_ctim.tv_nsec)]
        #endif
    }
}

/// Distinguishes a file from another that has taken its name.
struct FileIdentity: Hashable {
    let device: UInt64
    let number: UInt64
}

/// Returns the absolute path, without symbolic links, of something that exists.
func realPath(_ path: String) throws(KeyStoreError) -> String {
    guard let real = unsafe realpath(path, nil) else { throw .system(errno, "access \(path)") }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
}

/// Throws the system's reason if this user may not write a file.
func requireWritable(_ path: String) throws(KeyStoreError) {
    guard unsafe access(path, W_OK) == 0 else { throw .system(errno, "write \(path)") }
}

/// Waits until a file's or directory's name is on the disk; without it, the contents would be lost.
///
/// A directory above that cannot be read, or is not on a disk, is skipped.
func keepName(of path: String) throws(KeyStoreError) {
    let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "./"
    let number = unsafe open(parent + ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else { return }
    defer { _ = close(number) }
    guard fsync(number) == 0 || errno == EINVAL else { throw .system(errno, "write \(parent)") }
}

/// An open file, closed on release.
struct Descriptor: ~Copyable {
    private static let privateMode: mode_t = 0o600

    let number: Int32
    /// The file's path in errors.
    let path: String

    /// Opens a file; never waits for a pipe's other end, or passes the file to a child process.
    ///
    /// - Parameter name: The path in errors, if the file is a temporary one.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0, named name: String? = nil) throws(KeyStoreError) {
        var number: Int32
        repeat {
            number = unsafe open(path, flags | O_NONBLOCK | O_CLOEXEC, mode)
        } while number < 0 && errno == EINTR
        guard number >= 0 else { throw .system(errno, "open \(name ?? path)") }
        self.number = number
        self.path = name ?? path
    }

    init(reading path: String, named name: String? = nil) throws(KeyStoreError) {
        try self.init(path, O_RDONLY, named: name)
    }

    /// Creates an empty file to which only its owner has access.
    static func create(_ path: String, named name: String? = nil) throws(KeyStoreError) -> Descriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL
        let descriptor = try Descriptor(path, flags, mode: privateMode, named: name)
        // The process's umask may have removed bits. Some volumes have one mode for all files, and refuse another.
        _ = fchmod(descriptor.number, privateMode)
        return descriptor
    }

    /// Reads until `output` is full or the file ends; returns the number of bytes.
    func read(into output: inout MutableBytes) throws(KeyStoreError) -> Int {
        var filled = 0
        while filled < output.count {
            let start = filled
            let (count, code) = unsafe output.withMutableBase { base, length in
                let count = unsafe systemRead(number, base + start, length - start)
                return (count, errno)
            }
            if count < 0, code == EINTR { continue }
            guard count >= 0 else { throw .system(code, "read \(path)") }
            guard count > 0 else { break }
            filled += count
        }
        return filled
    }

    /// Writes all bytes, and waits until they are on the disk.
    func write(_ bytes: Span<UInt8>) throws(KeyStoreError) {
        var written = 0
        while written < bytes.count {
            let (count, code) = unsafe bytes.extracting(written..<bytes.count).withUnsafeBytes { rest in
                let count = unsafe systemWrite(number, rest.baseAddress, rest.count)
                return (count, errno)
            }
            if count < 0, code == EINTR { continue }
            guard count >= 0 else { throw .system(code, "write \(path)") }
            written += count
        }
        try synchronize()
    }

    /// Waits until written data is on the disk.
    func synchronize() throws(KeyStoreError) {
        while fsync(number) != 0 {
            guard errno == EINTR else { throw .system(errno, "write \(path)") }
        }
    }

    deinit { _ = close(number) }
}

// Inside `Descriptor`, methods of the same name hide these.
private func systemRead(_ number: Int32, _ base: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(number, base, count)
}

private func systemWrite(_ number: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(number, base, count)
}

/// Repeats `attempt` every few milliseconds until it returns a value; returns nil if there is none for so long.
func waiting<R>(
    milliseconds: Int32, _ attempt: () throws(KeyStoreError) -> R?
) throws(KeyStoreError) -> R? {
    let step: Int32 = 5
    var waited: Int32 = 0
    while true {
        if let result = try attempt() { return result }
        guard waited < milliseconds else { return nil }
        var pause = timespec(tv_sec: 0, tv_nsec: Int(step) * 1_000_000)
        unsafe nanosleep(&pause, nil)
        waited += step
    }
}

/// A file that SQLite keeps beside a store's database or, if that is a symbolic link, beside what it leads to.
enum LogFile: String {
    case log = "-wal"
    case journal = "-journal"

    /// Whether there is such a file, and it is not empty. The database exists.
    func hasContent(in directory: StoreDirectory) throws(KeyStoreError) -> Bool {
        let path = try realPath(directory.file(SQLiteKeyStore.databaseName)) + rawValue
        guard let facts = try FileFacts(at: path) else { return false }
        try facts.requireRegular(path)
        return facts.size > 0
    }
}

// MARK: Threads

/// A value that one thread at a time may use. (The standard library's `Mutex` needs iOS 18.)
@safe
package final class Locked<Value>: @unchecked Sendable {
    // On the heap, because a mutex must not move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        precondition(unsafe pthread_mutex_init(mutex, nil) == 0, "the system has no mutex left")
    }

    /// Calls `body` with the value; `body` must neither keep it nor lock again.
    package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }
}

/// Carries a value that only one thread uses at a time to another thread.
package struct UncheckedSendableBox<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}

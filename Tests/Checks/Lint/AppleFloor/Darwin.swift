// Stands in for the module Darwin while the floor check typechecks on Linux: what Apple's own Swift part adds to the C headers,
// because Swift imports neither variadic functions nor `errno`. The C part is DarwinDeclarations.h.
@_exported import DarwinDeclarations

/// The calling thread's last error.
public var errno: Int32 {
    get { 0 }
    set { _ = newValue }
}

/// Opens a file that exists.
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { -1 }

/// Opens a file, or creates it with a mode.
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { -1 }

/// Opens a file that exists, by a path relative to a directory.
public func openat(_ directory: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { -1 }

/// Opens a file by a path relative to a directory, or creates it with a mode.
public func openat(_ directory: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { -1 }

/// Controls a descriptor by a command without an argument.
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { -1 }

/// Controls a descriptor by a command with a number.
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { -1 }

/// Controls a descriptor by a command with a structure.
public func fcntl(_ descriptor: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer) -> Int32 { -1 }

/// The bits of a mode that hold the kind of file.
public var S_IFMT: mode_t { 0o170000 }
/// A directory.
public var S_IFDIR: mode_t { 0o040000 }
/// A regular file.
public var S_IFREG: mode_t { 0o100000 }
/// A symbolic link.
public var S_IFLNK: mode_t { 0o120000 }
/// A named pipe.
public var S_IFIFO: mode_t { 0o010000 }
/// A terminal, or another device of characters.
public var S_IFCHR: mode_t { 0o020000 }
/// A socket.
public var S_IFSOCK: mode_t { 0o140000 }
/// Writing for others.
public var S_IWOTH: mode_t { 0o002 }
/// Only the owner of an entry may remove it.
public var S_ISVTX: mode_t { 0o1000 }

/// Ignores a signal.
public var SIG_IGN: sig_t { unsafe unsafeBitCast(1, to: sig_t.self) }

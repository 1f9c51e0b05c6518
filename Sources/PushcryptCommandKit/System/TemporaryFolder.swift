#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A folder of the process's own, removed with everything in it.
package struct TemporaryFolder: ~Copyable {
    private let path: String

    package init() throws(CommandFailure) {
        let parent = SystemEnvironment.variable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = ContiguousArray("\(parent)/\(programName)-XXXXXX".utf8CString)
        let path = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map { unsafe String(cString: $0) }
        }
        guard let path else { throw .failed("cannot make a folder in \(quoted(parent)): \(SystemError.last.text)") }
        self.path = path
    }

    /// Gives the folder to `body`, and removes it afterwards.
    package consuming func whileItExists<R>(_ body: (String) throws(CommandFailure) -> R) throws(CommandFailure) -> R {
        try body(path)
    }

    deinit {
        Folder.remove(path)
    }
}

// The Darwin branches were typechecked on Linux and not run.
internal import CProcess

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
    internal import MachO
#endif

extension SystemEnvironment {
    /// The arguments that `main` got, without the program's name, as `RawText` reads them.
    package static func arguments(
        _ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> [String] {
        (1..<max(1, Int(count))).compactMap { place in
            guard let word = unsafe words[place] else { return nil }
            return unsafe RawText.text(
                UnsafeBufferPointer(start: word, count: strlen(word)).map(UInt8.init(bitPattern:)))
        }
    }

    /// The path of this program's file, without links; nil if the system does not say.
    package static var program: String? {
        #if canImport(Darwin)
            var size: UInt32 = 4096
            var path = ContiguousArray<CChar>(repeating: 0, count: Int(size))
            guard
                unsafe path.withUnsafeMutableBufferPointer({ unsafe _NSGetExecutablePath($0.baseAddress, &size) }) == 0
            else { return nil }
            return resolved(String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        #else
            guard let path = unsafe pushcrypt_program() else { return nil }
            return unsafe resolved(String(cString: path))
        #endif
    }
}

/// Another program instead of this one.
package enum ReplacedProcess {
    /// Runs a program with the same streams and process id: the one beside this program, or else the first of the PATH.
    ///
    /// - Returns: Why it cannot run; does not return otherwise.
    package static func run(_ name: String, _ arguments: [String]) -> SystemError {
        var words = unsafe ([name] + arguments).map { unsafe strdup(RawText.path($0)) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        if let program = SystemEnvironment.program {
            _ = unsafe execv("\(folder(of: program))/\(name)", &words)
            if SystemError.last != .notFound { return .last }
        }
        _ = unsafe execvp(name, &words)
        return .last
    }
}

// The Darwin branches were typechecked on Linux and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
    internal import MachO
#endif

extension SystemEnvironment {
    /// The arguments of this process, without the program's name, as `RawText` reads them.
    package static var arguments: [String] {
        #if os(Linux)
            if let words = keptArguments { return words }
        #endif
        return (1..<max(1, Int(CommandLine.argc))).compactMap { place in
            guard let word = unsafe CommandLine.unsafeArgv[place] else { return nil }
            return unsafe RawText.text(
                UnsafeBufferPointer(start: word, count: strlen(word)).map(UInt8.init(bitPattern:)))
        }
    }
}

#if os(Linux)
    extension SystemEnvironment {
        /// The arguments as the system keeps them, each with a zero byte; nil if it does not say.
        ///
        /// Swift looks for them beside the environment, which a preloaded library may have moved.
        private static var keptArguments: [String]? {
            guard let file = try? OpenFile("/proc/self/cmdline", flags: O_RDONLY) else { return nil }
            var bytes = [UInt8](repeating: 0, count: 4096)
            var end = 0
            while true {
                var span = bytes.mutableSpan
                guard let count = try? file.descriptor.readSome(into: &span, from: end) else { return nil }
                if count == 0 { break }
                end += count
                if end == bytes.count { bytes += [UInt8](repeating: 0, count: end) }
            }
            var words: [String] = []
            var word: [UInt8] = []
            for byte in bytes[..<end] {
                if byte != 0 {
                    word.append(byte)
                } else {
                    words.append(RawText.text(word))
                    word = []
                }
            }
            return words.isEmpty ? nil : Array(words.dropFirst())
        }
    }
#endif

/// Another program instead of this one.
package enum ReplacedProcess {
    /// Runs a program with the same streams and process id: the one beside this program, or else the first of the PATH.
    ///
    /// - Returns: Why it cannot run; does not return otherwise.
    package static func run(_ name: String, _ arguments: [String]) -> SystemError {
        var words = unsafe ([name] + arguments).map { unsafe strdup(RawText.path($0)) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        if let folder = ownFolder {
            _ = unsafe execv("\(folder)/\(name)", &words)
            if SystemError.last != .notFound { return .last }
        }
        _ = unsafe execvp(name, &words)
        return .last
    }

    /// The folder of this program; nil if the system does not say.
    private static var ownFolder: String? {
        #if canImport(Darwin)
            var size: UInt32 = 4096
            var path = ContiguousArray<CChar>(repeating: 0, count: Int(size))
            guard
                unsafe path.withUnsafeMutableBufferPointer({ unsafe _NSGetExecutablePath($0.baseAddress, &size) }) == 0
            else { return nil }
            let file = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            var path = ContiguousArray<CChar>(repeating: 0, count: 4096)
            let count = unsafe path.withUnsafeMutableBufferPointer { room in
                unsafe room.baseAddress.map { unsafe readlink("/proc/self/exe", $0, room.count) } ?? -1
            }
            guard count > 0, count < path.count else { return nil }
            let file = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #endif
        return folder(of: file)
    }
}

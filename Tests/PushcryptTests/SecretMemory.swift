#if os(Linux)
    import Foundation
    import Glibc
    import Pushcrypt
    import Testing

    /// This process's memory as the kernel shows it: also where Swift may not look, such as behind a free.
    final class SecretMemory {
        private let file: FileHandle
        // Allocated beforehand: memory that was just freed is the first to be given out again.
        private var buffer: Bytes

        /// Prepares to read up to `count` bytes at a time.
        init(count: Int) throws {
            file = try #require(FileHandle(forReadingAtPath: "/proc/self/mem"))
            buffer = Bytes(repeating: 0, count: count)
        }

        /// How many bytes in a row still are at `address` what they are in `secret`; 0 where nothing is mapped.
        func longestRun(of secret: Bytes, at address: UInt) -> Int {
            precondition(secret.count <= buffer.count)
            let read = unsafe buffer.withUnsafeMutableBytes {
                unsafe pread(file.fileDescriptor, $0.baseAddress, secret.count, off_t(bitPattern: address))
            }
            var (longest, run) = (0, 0)
            for index in 0..<max(0, read) {
                run = buffer[index] == secret[index] ? run + 1 : 0
                longest = max(longest, run)
            }
            return longest
        }

        /// The pages of an address, by proc(5).
        struct Mapping {
            /// `r`, `w`, `x` or `-`, and `p` for private.
            let permissions: String
            /// Two letters each, `dd` for pages that are left out of core dumps.
            let flags: Set<String>
        }

        static func mapping(at address: UInt) throws -> Mapping {
            let smaps = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
            let lines = try String(decoding: #require(try smaps.readToEnd()), as: UTF8.self).split(separator: "\n")
            let start = try #require(
                lines.firstIndex { line in
                    let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
                    return bounds.count == 2 && bounds[0] <= address && address < bounds[1]
                })
            let flags = try #require(lines[start...].first { $0.hasPrefix("VmFlags:") })
            return Mapping(
                permissions: String(lines[start].split(separator: " ")[1]),
                flags: Set(flags.split(separator: " ").dropFirst().map(String.init)))
        }
    }

    extension Span where Element == UInt8 {
        /// Where the bytes lie.
        var address: UInt { unsafe withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    }
#endif

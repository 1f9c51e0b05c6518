#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import Pushcrypt

// Called by bench.py. Each prints numbers; where SUITE stands, 2 may be added:
//     suites                 the suites that libsodium has
//     sample                 one comparison of the library with the bare calls
//     bare COUNT SUITE       seconds of so many bare seals
//     seal, open, slower, bare-seal, bare-open COUNT
//                            nothing; for callgrind. Of `slower`, one seal in thirty is done twice
//     devices COUNT SUITE    so many registration records, one a line, with random ids
//     store DIRECTORY SUITE  makes a key store there
//     idle, open-largest DIRECTORY SUITE, open-many DIRECTORY ROUNDS
//                            nothing; opens a push of the largest size, or a thousand so many times
do {
    let arguments = CommandLine.arguments.dropFirst()
    let suite: CipherSuite = arguments.count == 3 && arguments.last == "2" ? .xwing : .x25519
    switch (arguments.first, arguments.dropFirst().first) {
    case ("suites", nil): print(CipherSuite.supported.map { "\($0.rawValue)" }.joined(separator: " "))
    case ("sample", nil): try print(LibraryBench.sample())
    case ("bare", let count?): try print(LibraryBench(suite).secondsOfBareSeals(Int(count) ?? 0))
    case (let what?, let count?) where LibraryBench.counted.contains(what):
        try LibraryBench().run(what, times: Int(count) ?? 0)
    case ("devices", let count?):
        for _ in 0..<(Int(count) ?? 0) {
            let record = #"{"public_key":"\#(try DeviceKey(suite).publicKey)","created":1790000000000}"#
            print(#"{"device":"\#(UInt64.random(in: .min ... .max))","record":\#(record)}"#)
        }
    case ("store", let directory?): try print(StoreBench(at: directory, suite).sample())
    case ("idle", nil): break
    case ("open-largest", let directory?): try ReceiverBench(at: directory, suite).openLargest()
    case ("open-many", let directory?): try ReceiverBench(at: directory).openMany(Int(arguments.last ?? "") ?? 0)
    default: throw BenchFailure(what: "start it by `make bench`")
    }
} catch {
    let message = "bench: error: \(error)\n"
    _ = unsafe write(STDERR_FILENO, message, message.utf8.count)
    exit(1)
}

/// The bench cannot measure what it says.
struct BenchFailure: Error, CustomStringConvertible {
    let what: String

    var description: String { what }
}

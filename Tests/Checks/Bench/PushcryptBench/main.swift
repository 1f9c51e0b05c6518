#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import Pushcrypt

// Called by run.sh and counts.py:
//     sample             measures the library once, and prints a line of numbers
//     library            reads such lines, prints the table's header and the library's rows
//     parts              prints where the time of one seal goes
//     suites             prints the suites that libsodium has; where SUITE stands below, 2 may be added
//     bare COUNT SUITE   prints the seconds of so many bare seals
//     devices COUNT SUITE
//                        prints registration records
//     batch-suite-2 COUNT
//                        reads samples of batches of so many lines, prints their row
//     batch COUNT FEW MANY KILOBYTES
//                        reads samples of batches of so many lines, prints their rows and those of few and many lines
//     command KILOBYTES  reads the times of hyperfine, prints the rows of one command
//     store DIRECTORY SUITE
//                        makes a key store there, prints its rows
//     delivery MICROSECONDS BARE
//                        prints the row of a delivery that ServiceBench has measured
//     idle, open-one DIRECTORY SUITE, open-million DIRECTORY, open-file FILE
//                        do this, and print the most kilobytes that the process had (and, of a million, in the beginning)
//     seal-file BYTES FILE
//                        seals so many bytes
//     seal COUNT [slower], open COUNT
//                        does this, and prints nothing
//     make-store DIRECTORY
//                        makes a key store with a million devices
//     find COUNT DIRECTORY
//                        finds so many of them
//     memory IDLE ONE MILLION-EARLY MILLION-LATE SMALL-FILE LARGE-FILE ONE-OF-SUITE-2
//                        prints the rows of memory; the last may be missing
do {
    let arguments = CommandLine.arguments.dropFirst()
    let suite: CipherSuite = arguments.count == 3 && arguments.last == "2" ? .xwing : .x25519
    switch (arguments.first, arguments.dropFirst().first) {
    case ("sample", nil): try print(LibraryBench.sample())
    case ("library", nil): try LibraryBench.printRows(standardInput())
    case ("parts", nil): try PartsBench.printRows()
    case ("suites", nil): print(CipherSuite.supported.map { "\($0.rawValue)" }.joined(separator: " "))
    case ("bare", let count?): try print(BatchBench.bare(Int(count) ?? 0, suite))
    case ("devices", let count?): try BatchBench.printDevices(Int(count) ?? 0, suite)
    case ("batch-suite-2", let count?): try BatchBench.printSuite2Row(standardInput(), Double(count) ?? 0)
    case ("batch", _): try BatchBench.printRows(standardInput(), arguments.dropFirst().compactMap { Double($0) })
    case ("command", let kilobytes?): try CommandBench.printRows(standardInput(), kilobytes)
    case ("store", let directory?): try StoreBench(at: directory, suite).printRows()
    case ("delivery", let delivery?):
        ServiceRow.print(Double(delivery) ?? .infinity, Double(arguments.last ?? "") ?? 0)
    case ("idle", nil): try print(peakKilobytes())
    case ("open-one", let directory?): try print(ReceiverBench(at: directory, suite).memoryOfOneOpen())
    case ("open-million", let directory?):
        let peaks = try ReceiverBench(at: directory).memoryOfAMillionOpens()
        print(peaks.early, peaks.late)
    case ("open-file", let path?): try print(AttachmentBench.open(path))
    case ("seal-file", let bytes?): try AttachmentBench.seal(Int(bytes) ?? 0, to: arguments.last ?? "")
    case ("seal", let count?): try LibraryBench().seal(Int(count) ?? 0, isSlower: arguments.last == "slower")
    case ("open", let count?): try LibraryBench().open(Int(count) ?? 0)
    case ("make-store", let directory?): _ = try StoreBench(at: directory)
    case ("find", let count?): try StoreBench.find(Int(count) ?? 0, at: arguments.last ?? "")
    case ("memory", _): try MemoryBench.printRows(arguments.dropFirst().compactMap { Double($0) })
    default: throw BenchFailure(what: "start it by `make bench`")
    }
} catch {
    let message = "bench: error: \(error)\n"
    _ = unsafe write(STDERR_FILENO, message, message.utf8.count)
    exit(1)
}

func standardInput() -> [String] {
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    return lines
}

/// The bench cannot measure what it says.
struct BenchFailure: Error, CustomStringConvertible {
    let what: String

    var description: String { what }
}

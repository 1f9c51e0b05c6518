#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// Called by run.sh:
//     sample             measures the library once, and prints a line of numbers
//     library            reads such lines, prints the table's header and the library's rows
//     command KILOBYTES  reads the times of hyperfine, prints the rows of one command
//     store DIRECTORY    makes a key store there, prints its rows
do {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.dropFirst().first) {
    case ("sample", nil): try print(LibraryBench().sample())
    case ("library", nil): try LibraryBench.printRows(standardInput())
    case ("command", let kilobytes?): try CommandBench.printRows(standardInput(), kilobytes)
    case ("store", let directory?): try StoreBench(at: directory).printRows()
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

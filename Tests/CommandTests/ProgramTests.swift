import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Behaviour that only a real process shows.
@Suite struct ProgramTests {
    @Test("A reader that has left ends the program quietly", arguments: [["--help"], ["--version"], ["help", "help"]])
    func readerIsGone(arguments: [String]) throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let errors = Pipe()
        let process = Process()
        process.executableURL = try builtProgram()
        process.arguments = arguments
        process.standardOutput = pipe.fileHandleForWriting
        process.standardError = errors.fileHandleForWriting
        try process.run()
        process.waitUntilExit()
        try errors.fileHandleForWriting.close()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
        #expect(try errors.fileHandleForReading.readToEnd() ?? Data() == Data())
    }

    @Test("A prepared process leaves no core dump")
    func coreDump() async {
        await #expect(processExitsWith: .success) {
            prepareProcess()
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            #expect(limit.rlim_cur == 0)
            #expect(limit.rlim_max == 0)
        }
    }

    @Test("The memory of a prepared process is its own: no other program of the user's may look at it")
    func dumpable() async {
        await #expect(processExitsWith: .success) {
            // Swift imports no C function that takes any number of arguments.
            guard let symbol = unsafe dlsym(nil, "prctl") else { throw CocoaError(.featureUnsupported) }
            typealias Control = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
            let control = unsafe unsafeBitCast(symbol, to: Control.self)
            let isDumpable: CInt = 3  // PR_GET_DUMPABLE
            #expect(control(isDumpable, 0, 0, 0, 0) == 1)
            prepareProcess()
            #expect(control(isDumpable, 0, 0, 0, 0) == 0)
        }
    }

    @Test("A prepared process never opens a file as one of its closed streams", arguments: [0, 1, 2] as [CInt])
    func closedStream(number: CInt) async {
        await #expect(processExitsWith: .success) { [number = number as CInt] in
            close(number)
            prepareProcess()
            let opened = unsafe open("/dev/null", O_RDONLY)
            #expect(opened > 2)
        }
    }

    @Test(
        "A prepared process still reads what a shell hands it as /dev/fd",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/fd")))
    func processSubstitution() async throws {
        await #expect(processExitsWith: .success) {
            prepareProcess()
            let directory = try TemporaryDirectory()
            let file = try directory.write("text", to: "file")
            let handle = try #require(FileHandle(forReadingAtPath: file))
            let bytes = try Console.standard.read("/dev/fd/\(handle.fileDescriptor)", limit: 100)
            #expect(String(decoding: bytes, as: UTF8.self) == "text")
        }
    }

    @Test("The version names the program's and the library's")
    func version() throws {
        let outcome = try outcome(["--version"], table: .pushcrypt)
        #expect(outcome.exit == .done && outcome.output.hasPrefix("pushcrypt 1.0.0-beta.1 (libsodium 1.0."))
    }
}

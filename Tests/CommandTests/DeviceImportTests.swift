import Testing

@testable import PushcryptCommand

@Suite struct DeviceImportTests {
    @Test("An import counts empty lines, and takes a last line without its newline")
    func importLines() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("store")
        _ = try outcome(["--store", store, "init"], table: .pushcrypt)
        let key = "pcr1"
        let file = try directory.write("\n\n\(key)\n\n{}", to: "lines")
        let outcome = try outcome(["--store", store, "device", "import", file, "--json"], table: .pushcrypt)
        #expect(outcome.exit == .refused)
        #expect(outcome.output == #"{"added":0,"updated":0,"unchanged":0,"removed":0,"stale":0,"refused":2}"# + "\n")
        #expect(outcome.messages.contains("line 3: ") && outcome.messages.contains("line 5: "))
    }
}

import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

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

    @Test("Long lines are worked through in smaller numbers, so that what is kept of them has a bound")
    func longLines() throws {
        let line = String(repeating: "x", count: 60_000) + "\n"
        let captured = try CapturedConsole()
        let file = try captured.directory.write(String(repeating: line, count: 300), to: "lines")
        var lines = try NumberedLines(file, captured.console)
        var counts: [Int] = []
        try lines.forEach { (line) throws(Failure) in
            line
        } take: { (items, _) throws(Failure) in
            #expect(items.map(\.item.count).reduce(0, +) < NumberedLines.maximumText + 60_000)
            counts.append(items.count)
        }
        #expect(counts == [280, 20])
    }

    @Test(
        "Names that no store keeps are refused while the line is read, and not kept",
        arguments: [
            #"{"device":"LONG","record":"KEY"}"#, #"{"device":"a","user":"LONG","record":"KEY"}"#,
            #"{"device":"pcr1LONG","record":"KEY"}"#, #"{"device":"a\nb","record":"KEY"}"#,
        ])
    func longNames(_ line: String) throws {
        let failure = failure { try DeviceLine.change(Self.bytes(line)) }
        #expect(failure?.storeCode == .invalidName)
    }

    @Test(
        "The same of an export, and times that have not come",
        arguments: [
            (#"{"device":"a","public_key":"KEY","user":"LONG"}"#, KeyStoreError.Code.invalidName),
            (#"{"device":"LONG","removed":1}"#, .invalidName),
            (#"{"device":"a","removed":1,"reason":"LONG"}"#, .invalidName),
            (#"{"device":"a","removed":1699999999999000}"#, .futureTime),
            (#"{"device":"a","public_key":"KEY","updated":4102444800001}"#, .futureTime),
        ])
    func refusedLinesOfAnExport(_ line: String, _ code: KeyStoreError.Code) throws {
        let failure = failure { try ExportedDevice.change(Self.bytes(line)) }
        #expect(failure?.storeCode == code)
    }

    /// The rest of the line of an export is a registration record, which has its own rule of what a device may be called.
    @Test("A record whose device id no store keeps is no record", arguments: ["LONG", "pcr1LONG", " ", "a\\nb"])
    func longNamesOfRecords(_ id: String) throws {
        let line = Self.bytes(#"{"device":"\#(id)","public_key":"KEY"}"#)
        let failure = failure { try ExportedDevice.change(line) }
        #expect(failure?.message.contains("malformed-record") == true)
    }

    @Test("The same of what a sender was answered")
    func longNamesOfAnswers() throws {
        let answer = #"{"to":"LONG","status":410,"reason":"Unregistered","timestamp":1699999999999}"#
        let failure = failure { try ProviderAnswer(Self.bytes(answer)) }
        #expect(failure?.message.hasPrefix("malformed-line: ") == true)
        #expect(failure?.message.contains("'to' must have 1 to 255 bytes") == true)
    }

    private static let key = DeviceKey().publicKey

    private func failure(_ body: () throws -> some Any) -> Failure? {
        do {
            _ = try body()
            return nil
        } catch {
            return Failure(error)
        }
    }

    private static func bytes(_ line: String) -> ContiguousArray<UInt8> {
        let long = String(repeating: "x", count: 256)
        return ContiguousArray(line.replacing("LONG", with: long).replacing("KEY", with: "\(key)").utf8)
    }
}

extension Failure {
    fileprivate var storeCode: KeyStoreError.Code? { (cause as? KeyStoreError)?.code }
}

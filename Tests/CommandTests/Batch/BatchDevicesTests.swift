import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Messages that go to many devices of a store.
@Suite struct BatchDevicesTests {
    private let directory: TemporaryDirectory
    private let store: SQLiteKeyStore

    init() throws {
        directory = try TemporaryDirectory()
        let now = Console.standard.timestamp
        store = try SQLiteKeyStore.create(in: directory.file("P"), passphrase: nil)
        _ = try store.generateProviderKey(topic: Topic("com.example.app"), at: now)
    }

    private func addDevices(_ count: Int, owner: DeviceOwner = .unchanged) throws {
        let now = Console.standard.timestamp
        for number in 0..<count {
            let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: now)
            try store.addDevice(registration, id: id(number), owner: owner, at: now)
        }
    }

    private func id(_ number: Int) -> String { "device" + String(10_000 + number) }

    @Test("A line for a user of many devices is answered for each, in their order, and in little memory")
    func fanOut() throws {
        try addDevices(600, owner: .user("anna"))
        let output = try directory.write("", to: "out")
        let program = try RunningProgram(
            ["--store", directory.file("P"), "seal", "--batch", "--jobs", "1"], shell: "exec > '\(output)'; ")
        let passed = String(repeating: "x", count: 100_000)
        try program.send(#"{"to_user":"anna","payload":{"aps":{"alert":"x"}},"x":"\#(passed)"}"# + "\n")
        func size() throws -> Int { try FileHandle(forReadingFrom: URL(filePath: output)).seekToEnd().asInt }
        // Each answer is longer than what it passes through.
        for _ in 0..<30_000 where try size() < 600 * 100_500 { usleep(10_000) }
        #expect(try program.kilobytes("VmHWM") < 48 << 10)
        try program.endInput()
        #expect(program.end() == 0)
        let ids = try directory.read("out").split(separator: "\n").map { $0.dropFirst(7).prefix(11) }
        #expect(ids.map(String.init) == (0..<600).map(id))
    }

    @Test("A store that is replaced while all of its devices are sealed to ends that, and says so")
    func replaced() throws {
        try addDevices(1000)
        let (path, files) = (directory.file("P"), FileManager.default)
        let payload = try directory.write(#"{"aps":{"alert":"x"}}"#, to: "payload")
        try files.copyItem(atPath: path, toPath: directory.file("backup"))
        let program = try RunningProgram(["--store", path, "seal", "--to-all", "--jobs", "1", payload])
        // Its output is full long before the last device is read.
        let first = try program.lines(1)
        try files.moveItem(atPath: path, toPath: directory.file("away"))
        try files.moveItem(atPath: directory.file("backup"), toPath: path)
        let rest = try program.rest()
        #expect(program.end() == 1)
        #expect(
            try program.errors.hasPrefix("pushcrypt: error: the store was replaced; stopped after "))
        #expect(first.count + rest.count < 1000)
    }
}

extension UInt64 {
    fileprivate var asInt: Int { Int(clamping: self) }
}

import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider at work: several processes seal with one store, while others rotate its key, import devices and register some.
struct PipelineTests {
    private static let sealers = 4
    private static let rotations = 4
    private static let imported = 20_000
    private static let phone = "phone"

    @Test func everyMessageOpensWhateverTheOthersDoMeanwhile() async throws {
        let home = try Home()
        let key = DeviceKey()
        let provider = try home.store.generateProviderKey(topic: .app, at: start).publicKey
        let registration = DeviceRegistration(publicKey: key.publicKey, createdAt: start)
        _ = try home.store.addDevice(registration, id: Self.phone, owner: .user("alice"), at: start)
        let path = home.scratch.path
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Self.sealers { group.addTask { await Self.sealInAnotherProcess(path, number) } }
            group.addTask { await Self.importInAnotherProcess(path) }
            group.addTask { await Self.registerInAnotherProcess(path) }
            group.addTask { await Self.rotateInAnotherProcess(path) }
        }

        var pushes: [Bytes] = []
        var epochs: Set<UInt32> = []
        for number in 0..<Self.sealers {
            let lines = try readFile("\(path)/sealed-\(number)").split(separator: UInt8(ascii: "\n"))
            pushes += lines.map { Bytes($0) }
        }
        #expect(pushes.count > Self.sealers * 10)
        // As they were sealed, and the other way about: the receiver follows the certificates, whichever come first.
        for pushes in [pushes, pushes.reversed()] {
            var trust = ProviderTrust(pinned: [provider])
            for push in pushes {
                let opened = try Opener(topic: .app, deviceKeys: [key], trust: trust).open(push, at: start + 1)
                if let certificate = opened.certificate { #expect(try trust.accept(certificate, for: .app) == .raised) }
                epochs.insert(opened.epoch)
            }
            #expect(trust.learned.certificate == (try home.store.providerKey(named: nil).certificate))
        }
        #expect(epochs.count > 1, "no message was sealed before a rotation and none after one")
        #expect(try home.store.deviceCount() == 1 + Self.imported)
        #expect(!home.store.check().contains { $0.severity != .note })
    }

    // MARK: Processes

    private static func sealInAnotherProcess(_ path: String, _ number: Int) async {
        // An exit test is a C function: it cannot capture this type.
        await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
            try PipelineTests.seal(in: path, number)
        }
    }

    private static func importInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try PipelineTests.open(path)
            let count = PipelineTests.imported / 20
            for batch in 0..<20 {
                let changes = (0..<count).map {
                    DeviceChange.registered(
                        id: "\(batch)-\($0)",
                        DeviceRegistration(publicKey: .numbered(batch * count + $0), createdAt: start),
                        owner: .user("\($0)"))
                }
                try #require(try store.importDevices(changes, at: start).added == changes.count)
            }
        }
    }

    private static func registerInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try PipelineTests.open(path)
            for step in 0..<30 as Range<UInt64> {
                let device = try #require(try store.device(id: PipelineTests.phone))
                let registration = DeviceRegistration(
                    publicKey: device.publicKey, createdAt: device.createdAt, appVersion: AppVersion("\(step)"))
                try #require(
                    try store.addDevice(registration, id: PipelineTests.phone, at: start + step) == .updated)
                usleep(5_000)
            }
        }
    }

    private static func rotateInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try PipelineTests.open(path)
            for number in 0..<PipelineTests.sealers {
                // Some messages are sealed before the first rotation.
                let file = "\(path)/sealed-\(number)"
                var facts = stat()
                repeat { usleep(1_000) } while unsafe stat(file, &facts) != 0 || facts.st_size == 0
            }
            for _ in 0..<PipelineTests.rotations {
                usleep(60_000)
                _ = try store.rotateSigningKey(at: start)
            }
            try writeFile("\(path)/stop", [])
        }
    }

    private static func open(_ path: String) throws -> SQLiteKeyStore {
        try .open(in: path + "/store", passphrase: nil, options: .quick)
    }

    /// Seals as a long-running filter does, until the rotations are over and for a few messages more.
    private static func seal(in path: String, _ number: Int) throws {
        let store = try open(path)
        guard let output = unsafe fopen("\(path)/sealed-\(number)", "w") else { throw Scratch.Unavailable() }
        defer { unsafe fclose(output) }
        var version = try store.version()
        var signer = try store.signer()
        var left = 10
        while left > 0 {
            if unsafe access("\(path)/stop", F_OK) == 0 { left -= 1 }
            let now = try store.version()
            if now != version { (version, signer) = (now, try store.signer()) }
            let devices = try store.readDevices { (reader) throws(KeyStoreError) in
                [.success(try reader.device(id: phone))] + (try reader.devices(ofUser: "alice"))
            }
            for device in devices {
                let device = try device.get()
                let sealed = try Sealer(signer: signer, topic: .app).seal(
                    Sealer.Message(#"{"aps":{"alert":"hello"}}"#.utf8), to: device.publicKey, at: start)
                let line = String(decoding: sealed.json, as: UTF8.self) + "\n"
                let written = unsafe fputs(line, output)
                try #require(written >= 0)
            }
            usleep(3_000)
        }
    }
}

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
        let sender = try home.store.generateProviderKey(at: start).publicKey
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
        var senders: Set<ProviderPublicKey> = []
        for number in 0..<Self.sealers {
            let lines = try readFile("\(path)/sealed-\(number)").split(separator: UInt8(ascii: "\n"))
            pushes += lines.map { Bytes($0) }
        }
        #expect(pushes.count > Self.sealers * 10)
        // As they were sealed, and the other way about: the receiver follows the statements, whichever come first.
        for pushes in [pushes, pushes.reversed()] {
            var trust = ProviderTrust(pinned: [sender])
            for push in pushes {
                let opened = try Opener(topic: .app, deviceKeys: [key], trust: trust).open(push, at: start + 1)
                for statement in opened.statements { _ = try trust.accept(statement, for: .app, at: start + 1) }
                senders.insert(opened.sender)
            }
            #expect(trust.pinned == [try home.store.providerKey(named: nil).record.publicKey])
        }
        #expect(senders.count > 1, "no message was sealed before a rotation and none after one")
        #expect(try home.store.deviceCount() == 1 + Self.imported)
        #expect(try home.store.providerKey(named: nil).record.generation == UInt64(1 + Self.rotations))
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
                _ = try store.rotateProviderKey(at: start)
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
        var keys = try readKeys(store)
        var left = 10
        while left > 0 {
            if unsafe access("\(path)/stop", F_OK) == 0 { left -= 1 }
            let now = try store.version()
            if now != version { (version, keys) = (now, try readKeys(store)) }
            let devices = try store.readDevices { (reader) throws(KeyStoreError) in
                [.success(try reader.device(id: phone))] + (try reader.devices(ofUser: "alice"))
            }
            for device in devices {
                let device = try device.get()
                var options = Sealer.Options()
                options.announcing = keys.announcements.statements(
                    endingAt: keys.sender.publicKey, pinned: device.pinnedProvider, at: start)
                let sealed = try Sealer(sender: keys.sender, topic: .app).seal(
                    #"{"aps":{"alert":"hello"}}"#.utf8, to: device.publicKey, at: start, options: options)
                let line = String(decoding: sealed.json, as: UTF8.self) + "\n"
                let written = unsafe fputs(line, output)
                try #require(written >= 0)
            }
            usleep(3_000)
        }
    }

    private static func readKeys(
        _ store: SQLiteKeyStore
    ) throws -> (sender: ProviderKey, announcements: AnnouncementChain) {
        (try store.providerKey(named: nil).key, try store.announcements())
    }
}

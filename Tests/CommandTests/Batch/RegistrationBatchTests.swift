import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing
import VectorKit

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// `device add --batch --reply`: many registrations in one process.
@Suite struct RegistrationBatchTests {
    /// A provider's store, and the phones that register there.
    private struct Provider {
        let directory: TemporaryDirectory
        var path: String { directory.file("P") }
        var arguments: [String] { ["--store", path, "device", "add", "--batch", "--reply"] }

        init(hasProvider: Bool = true) throws {
            directory = try TemporaryDirectory()
            try run("init")
            if hasProvider { try run("key", "new", "provider", "--topic", "com.example.app") }
        }

        @discardableResult
        func run(_ arguments: String..., input: String = "") throws -> Outcome {
            try outcome(["--store", path] + arguments, table: .pushcrypt, input: input)
        }

        /// The answers to lines, and the outcome.
        func add(_ lines: [String]) throws -> (answers: [Answer], outcome: Outcome) {
            let outcome = try outcome(arguments, table: .pushcrypt, input: lines.map { $0 + "\n" }.joined())
            return (try outcome.output.split(separator: "\n").map { try Answer(String($0)) }, outcome)
        }

        func store() throws -> SQLiteKeyStore { try SQLiteKeyStore.open(in: path) }
    }

    private struct Answer: Equatable {
        let text: String
        let reply: String?
        let code: String?
        let line: Int64?

        init(_ text: String) throws {
            self.text = text
            let root = try JSONDocument(parsing: ContiguousArray(text.utf8)).root
            reply = root["reply"].map { String(decoding: $0.minified(), as: UTF8.self) }
            code = root["error"]?["code"]?.string
            line = root["line"]?.integer
        }

        /// The verdict on the phone's record: its key, or the reason against it.
        var verdict: RegistrationReply.Verdict? {
            get throws { try reply.map { try RegistrationReply(json: ContiguousArray($0.utf8)).verdict } }
        }
    }

    private static func record(_ key: DevicePublicKey = DeviceKey().publicKey, generation: UInt64 = 1) -> String {
        let registration = DeviceRegistration(publicKey: key, generation: generation, createdAt: nil)
        return String(decoding: registration.json, as: UTF8.self)
    }

    private static func line(_ device: String, _ record: String, user: String? = nil, _ more: String = "") -> String {
        let user = user.map { #","user":"\#($0)""# } ?? ""
        return #"{"device":"\#(device)"\#(user),"record":\#(record)\#(more)}"#
    }

    // MARK: The same answers

    @Test("Each reply, and each code, is that of 'device add --reply' for the record alone")
    func sameAsAlone() throws {
        let (one, many) = (try Provider(), try Provider())
        try FileManager.default.removeItem(atPath: many.path)
        try FileManager.default.copyItem(atPath: one.path, toPath: many.path)
        // Phones of two users, of which every third has the id of another, and one that rotates its key.
        let kit = try KitGroup.records.vectors().compactMap { String(bytes: $0.body, encoding: .utf8) }
        let own = [2, 3, 1, 1028, 1027].map { Self.record(generation: $0) }
        let records = kit + own
        var lines: [String] = []
        var alone: [(reply: String?, code: String?)] = []
        for (number, record) in records.enumerated() {
            let (device, user) =
                number < kit.count ? ("phone\(number % 3 == 0 ? 0 : number)", "user\(number % 2)") : ("own", "user0")
            var json = JSONWriter()
            json.object { json in
                json.string(device, for: "device")
                json.string(user, for: "user")
                json.string(record, for: "record")
            }
            lines.append(String(decoding: json.bytes, as: UTF8.self))
            let outcome = try one.run("device", "add", device, "--user", user, "--reply", input: record)
            let error = outcome.messages.firstMatch(of: #/error: (?:the device's key: )?([a-z-]+): /#)
            alone.append((outcome.output.isEmpty ? nil : String(outcome.output.dropLast()), error.map { String($0.1) }))
        }
        let (answers, outcome) = try many.add(lines)
        try #require(answers.count == records.count)
        for (number, answer) in answers.enumerated() {
            #expect(answer.reply == alone[number].reply && answer.code == alone[number].code, "\(records[number])")
        }
        #expect(outcome.exit == .failed, "a store without the provider's key is no fault of a line")
        let codes = Set(alone.compactMap(\.code))
        #expect(codes.isSuperset(of: ["generation-rollback", "user-mismatch", "malformed-record", "key-taken"]))
        #expect(alone.contains { $0.reply?.contains("foreign") == true })
        var devices: [[DeviceRecord]] = [[], []]
        for (number, provider) in [one, many].enumerated() {
            try provider.store().forEachDevice { devices[number].append(try $0.get()) }
        }
        #expect(devices[0] == devices[1] && devices[0].contains { $0.id == "own" && $0.generation == 1027 })
    }

    @Test("The lines of one device are taken in order, and a key is one device's")
    func orderAndKeys() throws {
        let provider = try Provider()
        let (first, second) = (DeviceKey().publicKey, DeviceKey().publicKey)
        let (old, new) = (Self.record(first), Self.record(second, generation: 2))
        let (answers, outcome) = try provider.add([
            Self.line("a", old, user: "anna", #","n":1"#),
            Self.line("a", old, user: "anna"),
            Self.line("a", new, user: "anna"),
            Self.line("a", old, user: "anna"),
            Self.line("b", new, user: "ben", #","token":"0a1b""#),
            Self.line("c", new, user: "anna"),
        ])
        #expect(
            try answers.map { try $0.verdict } == [
                .acknowledged(first), .acknowledged(first), .acknowledged(second), .refused(.generationRollback),
                .refused(.keyTaken), .acknowledged(second),
            ])
        #expect(answers[0].text.hasPrefix(#"{"device":"a","user":"anna","reply":{"version":1,"#))
        #expect(answers[0].text.hasSuffix(#"},"n":1}"#))
        #expect(answers[4].text.hasPrefix(#"{"error":{"code":"key-taken","message":"device 'a' already has"#))
        #expect(answers[4].text.contains(#""line":5,"device":"b","user":"ben","reply":{"version":1,"refused":"key-ta"#))
        #expect(answers[4].text.hasSuffix(#"},"token":"0a1b"}"#))
        #expect(outcome.exit == .refused)
        let store = try provider.store()
        #expect(try store.device(id: "a") == nil && store.device(id: "c")?.publicKey == second)
    }

    @Test("A removed device is registered again, and stays removed if its record is refused")
    func removed() throws {
        let provider = try Provider()
        _ = try provider.add([Self.line("a", Self.record()), Self.line("b", Self.record())])
        try provider.run("device", "remove", "a", "b")
        let (answers, _) = try provider.add([
            Self.line("a", Self.record(generation: 2)), Self.line("b", Self.record(generation: 1026)),
        ])
        #expect(answers.map(\.code) == [nil, "generation-too-high"])
        let store = try provider.store()
        let found = try store.readDevices { (reader) throws(KeyStoreError) in
            ["a", "b"].map { id in Result { () throws(KeyStoreError) in try reader.device(id: id) } }
        }
        #expect((try? found[0].get()) != nil)
        guard case .failure(let error) = found[1] else { Issue.record("it is there"); return }
        #expect(error.code == .removedDevice)
    }

    @Test("A line that is wrong is answered with its number, and the others are registered")
    func wrongLines() throws {
        let provider = try Provider()
        let long = String(repeating: "x", count: DeviceLine.maximumLength)
        let lines = [
            "nonsense", "", Self.line("a", Self.record()), "[]", #"{"record":\#(Self.record())}"#, #"{"device":"b"}"#,
            #"{"device":"b","record":7}"#, #"{"device":"b","record":"pcr1"}"#, #"{"device":"b","record":{}}"#,
            #"{"device":"b","user":[7],"record":\#(Self.record())}"#,
            #"{"device":"pcr1","record":\#(Self.record())}"#, #"{"device":"b","recrod":\#(Self.record())}"#,
            Self.line("b", Self.record(), #","reply":1"#), Self.line("b", Self.record(), #","x":"\#(long)""#),
            #"{"device":"c","user":null,"record":"\#(DeviceKey().publicKey)"}"#,
        ]
        let (answers, outcome) = try provider.add(lines)
        #expect(
            answers.map(\.code) == [
                "unexpected-byte", nil, "malformed-line", "malformed-line", "malformed-line", "malformed-line",
                "malformed-key", "malformed-record", "malformed-line", "invalid-name", "malformed-line", "reserved-key",
                "line-too-long", nil,
            ])
        #expect(answers.compactMap(\.line) == [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
        #expect(answers.map { $0.reply != nil } == (0..<14).map { $0 == 1 || $0 == 13 })
        #expect(outcome.exit == .refused)
        #expect(try provider.store().deviceCount() == 2)
        // A failed line can be given again, with its record: the error is dropped.
        let again = answers[4].text.dropLast() + #","record":\#(Self.record())}"#
        #expect(try provider.add([String(again)]).answers.map(\.code) == [nil])
        // And what has a reply, after the reason has gone.
        let record = Self.record()
        _ = try provider.add([Self.line("x", record, user: "anna")])
        let taken = try provider.add([Self.line("y", record, user: "ben")]).answers[0]
        #expect(taken.code == "key-taken" && taken.reply != nil)
        try provider.run("device", "remove", "x")
        let retried = taken.text.dropLast() + #","record":\#(record)}"#
        #expect(try provider.add([String(retried)]).answers.map(\.code) == [nil])
    }

    @Test("Without a sender's key a phone that trusts none is refused, since it could open nothing")
    func noSender() throws {
        let provider = try Provider(hasProvider: false)
        let (key, sender) = (DeviceKey().publicKey, ProviderKey().publicKey)
        let trusting = DeviceRegistration(publicKey: key, createdAt: nil, pinnedProvider: sender)
        let (answers, outcome) = try provider.add([
            Self.line("a", Self.record()), Self.line("b", String(decoding: trusting.json, as: UTF8.self)),
        ])
        #expect(answers.map(\.code) == ["unknown-name", nil])
        #expect(answers.map(\.reply) == [nil, #"{"version":1,"acknowledged":"\#(key)"}"#])
        // Once the store has a key, the phone can be registered.
        #expect(outcome.exit == .failed)
        #expect(try provider.store().deviceCount() == 1)
    }

    @Test("A phone that trusts a key which the store does not have is told, and so is the operator")
    func foreign() throws {
        let provider = try Provider()
        let trusting = DeviceRegistration(
            publicKey: DeviceKey().publicKey, createdAt: nil, pinnedProvider: ProviderKey().publicKey)
        let (answers, outcome) = try provider.add([
            Self.line("a", Self.record()), Self.line("b", String(decoding: trusting.json, as: UTF8.self)),
        ])
        #expect(answers.map { $0.text.contains(#","foreign":["provider"]"#) } == [false, true])
        #expect(outcome.exit == .done)
        #expect(outcome.messages.contains("warning: device 'b' trusts a provider key that this store does not have\n"))
    }

    @Test("A reply names the key that signs for the phone's app, or the phone is refused")
    func apps() throws {
        let provider = try Provider(hasProvider: false)
        func key(_ topic: String) throws -> String {
            let made = try provider.run("key", "new", "provider", "--name", topic, "--topic", topic)
            return made.output.trimmingCharacters(in: .newlines)
        }
        let device = DeviceKey().publicKey
        func record(_ topic: String) throws -> String {
            let registration = DeviceRegistration(
                publicKey: topic == "com.example.b" ? device : DeviceKey().publicKey, topic: try Topic(topic),
                generation: 1, createdAt: nil)
            return Self.line("of-" + topic, String(decoding: registration.json, as: UTF8.self))
        }
        let bound = try key("com.example.a")
        let other = try key("com.example.b")
        let lines = try ["com.example.a", "com.example.b", "com.example.c"].map(record)
        let (answers, _) = try provider.add(lines)
        #expect(answers.map(\.code) == [nil, nil, "unknown-name"])
        #expect(answers[0].reply?.contains(bound) == true && answers[1].reply?.contains(other) == true)
        #expect(answers[2].reply == nil && answers[2].text.contains("no provider key for com.example.c"))
        #expect(try provider.store().deviceCount() == 2)
        // A bare key, of a device whose app the store knows.
        let bare = try provider.add([Self.line("of-com.example.b", "\"\(device)\"")]).answers[0]
        #expect(bare.reply?.contains(other) == true, "\(bare.text)")
    }

    @Test("An operator is warned once, whatever phones say")
    func warnsOnce() throws {
        let provider = try Provider()
        let program = try RunningProgram(provider.arguments)
        for number in 0..<3 {
            let trusting = DeviceRegistration(
                publicKey: DeviceKey().publicKey, createdAt: nil, pinnedProvider: ProviderKey().publicKey)
            try program.send(Self.line("d\(number)", String(decoding: trusting.json, as: UTF8.self)) + "\n")
            #expect(try program.lines(1).first?.contains(#""foreign":["provider"]"#) == true)
        }
        try program.endInput()
        #expect(program.end() == 0)
        #expect(try program.errors.matches(of: #/warning: /#).count == 1)
    }

    // MARK: The process

    @Test("A phone waits for its reply: it comes when the line does, and what is answered survives a kill")
    func kill() throws {
        let provider = try Provider()
        let store = try provider.store()
        for number in 0..<8 {
            let program = try RunningProgram(provider.arguments)
            let key = DeviceKey().publicKey
            let line = Self.line("d\(number)", Self.record(key)) + "\n"
            try program.send(line)
            #expect(try program.lines(1).map { try Answer($0).verdict } == [.acknowledged(key)])
            // The next one is killed somewhere on the way.
            try program.send(Self.line("e\(number)", Self.record()) + "\n")
            usleep(UInt32(number) * 1250)
            program.raise(SIGKILL)
            #expect(program.end() == -SIGKILL)
            #expect(try store.device(id: "d\(number)")?.publicKey == key)
            // A phone that got no reply registers again.
            let left = try program.rest().count
            if left == 1 { #expect(try store.device(id: "e\(number)") != nil) }
            let record = try store.device(id: "e\(number)").map { Self.record($0.publicKey) } ?? Self.record()
            #expect(try provider.add([Self.line("e\(number)", record), line]).answers.map(\.code) == [nil, nil])
        }
        #expect(try store.deviceCount() == 16)
    }

    @Test("A restored store is used from the next line on; one that is gone is an error in its place")
    func replaced() throws {
        let provider = try Provider()
        let (files, backup, away) = (
            FileManager.default, provider.directory.file("backup"), provider.directory.file("away")
        )
        try files.copyItem(atPath: provider.path, toPath: backup)
        let program = try RunningProgram(provider.arguments)
        func code(_ device: String) throws -> String? {
            try program.send(Self.line(device, Self.record()) + "\n")
            return try Answer(#require(program.lines(1).first)).code
        }
        #expect(try code("a") == nil)
        try files.moveItem(atPath: provider.path, toPath: away)
        #expect(try code("b") == "store-missing")
        try files.moveItem(atPath: backup, toPath: provider.path)
        #expect(try code("c") == nil)
        let store = try provider.store()
        #expect(try store.device(id: "c") != nil && store.deviceCount() == 1)
        // A rotation elsewhere is in the next reply.
        let certificate = try store.rotateSigningKey(at: Console.standard.timestamp).certificate
        try program.send(Self.line("d", Self.record()) + "\n")
        #expect(try program.lines(1).first?.contains("\(#require(certificate))") == true)
        try program.endInput()
        #expect(try program.rest() == [] && program.end() == 1)
    }
}

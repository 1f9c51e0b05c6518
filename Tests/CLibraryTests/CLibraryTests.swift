import CPushcrypt
import Pushcrypt
import Testing

@testable import PushcryptC

/// The header's guarantees, seen from Swift; `make nightly PART=library` calls the library itself, from C and from Python.
@Suite struct CLibraryTests {
    private static let now: UInt64 = 1_767_225_600_000
    private static let topic = "com.example.app"
    private static let payload = #"{"aps":{"alert":{"title":"Table for two"}},"chat":"c41"}"#

    private static let untouched = [CChar](repeating: 1, count: Int(PUSHCRYPT_PUSH_MAX))

    private static func text(_ bytes: some Sequence<CChar>) -> String {
        String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static var lastError: String {
        var text = [CChar](repeating: 1, count: Int(PUSHCRYPT_ERROR_MAX))
        let length = unsafe pushcrypt_last_error(&text, text.count)
        #expect(text[length] == 0)
        return Self.text(text.prefix(length))
    }

    private static func text(of key: ProviderKey) -> String {
        key.withText { String(decoding: ContiguousArray(copying: $0), as: UTF8.self) }
    }

    private static func text(of key: DeviceKey) -> String {
        key.withText { String(decoding: ContiguousArray(copying: $0), as: UTF8.self) }
    }

    @Test("A push announces the rotations in the options, and refuses others")
    func statements() throws {
        let (old, sender, device) = (ProviderKey(), ProviderKey(), DeviceKey())
        let topic = try Topic(Self.topic)
        let at = Timestamp(milliseconds: Self.now)
        let statement = try RotationStatement(from: old, to: sender, at: at)
        let text = AnnouncedStatements.line(statement, beginningWith: old.publicKey)
        var (push, length) = (Self.untouched, -1)
        func seal(_ statements: String, by key: ProviderKey, at now: UInt64 = Self.now) -> CInt {
            unsafe statements.withCString { statements in
                var options = unsafe pushcrypt_seal_options()
                unsafe options.size = MemoryLayout<pushcrypt_seal_options>.size
                unsafe options.statements = statements
                return unsafe pushcrypt_seal(
                    Self.payload, Self.payload.utf8.count, "\(device.publicKey)", Self.text(of: key), Self.topic, now,
                    &options, &push, push.count, &length)
            }
        }
        #expect(seal(text, by: sender) == PUSHCRYPT_DONE)
        let opener = Opener(topic: topic, deviceKeys: [device], trust: ProviderTrust(pinned: [old.publicKey]))
        #expect(try opener.open(Self.text(push.prefix(length)).utf8, at: at).statements == [statement])

        #expect(seal(text, by: old) == PUSHCRYPT_MISUSE && Self.code == "untrusted-old-key")
        #expect(seal(String(text.dropLast(5)), by: sender) == PUSHCRYPT_MISUSE && Self.code == "malformed-statement")

        // Phones accept it no longer.
        let later = at.adding(RotationStatement.standardAcceptFor).adding(.seconds(1))
        #expect(seal(text, by: sender, at: later.milliseconds) == PUSHCRYPT_DONE)
        let trust = ProviderTrust(pinned: [sender.publicKey])
        let opened = try Opener(topic: topic, deviceKeys: [device], trust: trust)
            .open(Self.text(push.prefix(length)).utf8, at: later)
        #expect(opened.statements.isEmpty)
    }

    @Test(
        "A topic that ends as the topic of a call leaves a warning, until the next call",
        arguments: [topic, "\(topic).voip"])
    func topicOfACall(topic: String) throws {
        let sender = ProviderKey()
        let device = DeviceKey()
        for topic in [topic, Self.topic] {
            var (push, payload, length, opened) = (Self.untouched, Self.untouched, -1, pushcrypt_opened())
            opened.size = MemoryLayout<pushcrypt_opened>.size
            var result = unsafe pushcrypt_seal(
                Self.payload, Self.payload.utf8.count, "\(device.publicKey)", Self.text(of: sender), topic, Self.now,
                nil,
                &push, push.count, &length)
            #expect(result == PUSHCRYPT_DONE)
            let isWarned = topic != Self.topic
            #expect(Self.lastError.hasPrefix("warning: topic ends with .voip") == isWarned)
            #expect(Self.lastError.isEmpty == !isWarned)
            result = unsafe pushcrypt_open(
                push, length, Self.text(of: device), "\(sender.publicKey)", topic, Self.now, &opened, &payload,
                payload.count, &length)
            #expect(result == PUSHCRYPT_DONE)
            #expect(Self.lastError.hasPrefix("warning: ") == isWarned)
        }
    }

    @Test("What Swift has sealed is opened, and what is sealed Swift opens", arguments: CipherSuite.supported)
    func bothWays(_ suite: CipherSuite) throws {
        if suite == CipherSuite.supported.last, suite == .x25519 {
            print("SKIPPED: suite 2 needs libsodium 1.0.22: run make nightly PART=post-quantum")
        }
        let sender = ProviderKey()
        let device = try DeviceKey(suite)
        let topic = try Topic(Self.topic)
        let at = Timestamp(milliseconds: Self.now)

        let push = try Sealer(sender: sender, topic: topic).seal(Self.payload.utf8, to: device.publicKey, at: at).json
        var output = Self.untouched
        var length = -1
        var opened = pushcrypt_opened()
        opened.size = MemoryLayout<pushcrypt_opened>.size
        var result = unsafe pushcrypt_open(
            push.map(CChar.init(bitPattern:)), push.count, "\(Self.text(of: DeviceKey()))\n\(Self.text(of: device))",
            "\(sender.publicKey)", Self.topic, Self.now, &opened, &output, output.count, &length)
        #expect(result == PUSHCRYPT_DONE)
        #expect(Self.text(output.prefix(length)) == Self.payload)
        #expect(opened.sent_at == Self.now && opened.device_number == 2)
        let textLength = unsafe withUnsafeBytes(of: opened.device_key) { unsafe $0.prefix { $0 != 0 }.count }
        #expect(textLength == (suite == .x25519 ? 62 : 0))
        #expect(Self.lastError.isEmpty)

        result = unsafe pushcrypt_seal(
            Self.payload, Self.payload.utf8.count, "\(device.publicKey)", Self.text(of: sender), Self.topic, Self.now,
            nil, &output, output.count, &length)
        #expect(result == PUSHCRYPT_DONE)
        let opener = Opener(topic: topic, deviceKeys: [device], trust: ProviderTrust(pinned: [sender.publicKey]))
        let message = try opener.open(Self.text(output.prefix(length)).utf8, at: at)
        #expect(String(decoding: message.payload, as: UTF8.self) == Self.payload)
    }

    @Test("A refusal has a result and a code, and leaves the output alone")
    func refusals() {
        var output = Self.untouched
        var length = -1
        let key = Self.text(of: ProviderKey())
        let device = "\(DeviceKey().publicKey)"
        func seal(_ payload: String, _ device: String, _ key: String?, capacity: Int = 5120) -> CInt {
            unsafe pushcrypt_seal(
                payload, payload.utf8.count, device, key, Self.topic, Self.now, nil, &output, capacity, &length)
        }
        let cases: [(result: CInt, wanted: CInt, code: String)] = [
            (seal("{}", device, key), PUSHCRYPT_REFUSED, Self.code),
            (seal(Self.payload, "pcr1", key), PUSHCRYPT_REFUSED, Self.code),
            (seal(Self.payload, device, "PCS"), PUSHCRYPT_MISUSE, Self.code),
            (seal(Self.payload, device, nil), PUSHCRYPT_MISUSE, Self.code),
            (seal(Self.payload, device, key, capacity: 10), PUSHCRYPT_TOO_SMALL, Self.code),
        ]
        #expect(cases.map(\.result) == cases.map(\.wanted))
        #expect(
            cases.map(\.code) == ["missing-aps", "malformed-key", "malformed-key", "invalid-call", "buffer-too-small"])
        #expect(output == Self.untouched)
    }

    private static var code: String { String(lastError.prefix { $0 != ":" }) }

    @Test("A recovery has what the caller's list needs, and a second one of its serial is a conflict")
    func recovery() throws {
        let (stolen, new, other) = (ProviderKey(), ProviderKey(), ProviderKey())
        let (device, recovery) = (DeviceKey(), RecoveryKey())
        let topic = try Topic(Self.topic)
        let at = Timestamp(milliseconds: Self.now)
        func open(_ sender: ProviderKey, _ new: ProviderKey, _ senders: String) throws -> (CInt, pushcrypt_opened) {
            var options = Sealer.Options()
            options.announcing = [
                try RecoveryRequest(by: recovery.publicKey, for: topic, to: new, serial: 7, at: at)
                    .signed(by: recovery).statement
            ]
            let push = try Sealer(sender: sender, topic: topic)
                .seal(Self.payload.utf8, to: device.publicKey, at: at, options: options).json
            var output = Self.untouched
            var length = -1
            var opened = pushcrypt_opened()
            opened.size = MemoryLayout<pushcrypt_opened>.size
            let result = unsafe pushcrypt_open(
                push.map(CChar.init(bitPattern:)), push.count, Self.text(of: device), senders, Self.topic, Self.now,
                &opened, &output, output.count, &length)
            return (result, opened)
        }
        let list = "\(stolen.publicKey)\n\(recovery.publicKey)\n"
        let (result, opened) = try open(new, new, list)
        #expect(result == PUSHCRYPT_DONE && opened.rotation_count == 1 && opened.recovery_conflict == 0)
        #expect(opened.rotations.0.old_until == 0 && opened.rotations.0.old_sender.0 == 0)
        let recovered = unsafe withUnsafeBytes(of: opened.recovered) { unsafe ContiguousArray($0) }
        let line = "recovered \(String(decoding: recovered.dropLast(), as: UTF8.self))\n"
        let after = "\(stolen.publicKey) 0\n\(new.publicKey)\n\(recovery.publicKey)\n\(line)"
        #expect(try open(new, new, after).1.rotation_count == 0)
        #expect(try open(stolen, new, after).0 == PUSHCRYPT_REFUSED && Self.code == "authentication-failed")
        let (conflict, told) = try open(new, other, after)
        #expect(conflict == PUSHCRYPT_DONE && told.recovery_conflict == 1 && told.rotation_count == 0)
        #expect(try open(other, other, after).0 == PUSHCRYPT_REFUSED && Self.code == "recovery-conflict")
        #expect(try open(stolen, new, list + line + line).0 == PUSHCRYPT_MISUSE && Self.code == "invalid-call")
    }

    @Test("The header's capacities are those of the library")
    func capacities() {
        #expect(Int(PUSHCRYPT_RECOVERY_CAPACITY) == (53 * 4 + 2) / 3 + 1)
        #expect(Int(PUSHCRYPT_PUSH_MAX) == PushType.voip.maximumPushLength)
        #expect(Int(PUSHCRYPT_PAYLOAD_MAX) >= PushType.voip.maximumPayloadLength)
        #expect(Int(PUSHCRYPT_KEY_CAPACITY) == "\(ProviderKey().publicKey)".utf8.count + 1)
        #expect(Int(PUSHCRYPT_KEY_CAPACITY) == "\(DeviceKey().publicKey)".utf8.count + 1)
        #expect(Int(PUSHCRYPT_ID_CAPACITY) == 2 * MessageID.length + 1)
        #expect(Int(PUSHCRYPT_ROTATIONS_MAX) == RotationStatement.maximumPerMessage)
    }

    @Test("Codes of the border are those that `pushcrypt explain` has")
    func codes() {
        // The same list stands in ExplanationTests.
        #expect(CallError.Code.allCases.map(\.rawValue) == ["invalid-call", "buffer-too-small"])
    }

    @Test("A text that is too long is cut between characters")
    func cut() {
        let long = String(repeating: "\u{20AC}", count: 400)
        unsafe pushcrypt_keep_error(long, long.utf8.count)
        // 1023 bytes hold 341 characters of three.
        #expect(Self.lastError == String(repeating: "\u{20AC}", count: 341))
        var short = [CChar](repeating: 1, count: 6)
        #expect(unsafe pushcrypt_last_error(&short, short.count) == 1023)
        #expect(short.map(UInt8.init(bitPattern:)) == [0xe2, 0x82, 0xac, 0, 1, 1])
    }
}

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

    @Test("A signing key's file seals under its certificate, for its app alone")
    func signingKey() throws {
        let (provider, device) = (ProviderKey(), DeviceKey())
        let topic = try Topic(Self.topic)
        let credential = try Self.credential(of: provider, epoch: 7, floor: 7)
        var (push, length) = (Self.untouched, -1)
        func seal(_ key: String, for topic: String = Self.topic) -> CInt {
            unsafe pushcrypt_seal(
                Self.payload, Self.payload.utf8.count, "\(device.publicKey)", key, topic, Self.now, nil, &push,
                push.count,
                &length)
        }
        let text = Self.text(of: credential)
        #expect(seal(text) == PUSHCRYPT_DONE)
        let opener = Opener(topic: topic, deviceKeys: [device], trust: ProviderTrust(pinned: [provider.publicKey]))
        let opened = try opener.open(Self.text(push.prefix(length)).utf8, at: Timestamp(milliseconds: Self.now))
        #expect(opened.epoch == 7 && opened.certificate == credential.certificate)

        #expect(seal(text, for: "com.example.b") == PUSHCRYPT_MISUSE && Self.code == "bad-certificate-signature")
        #expect(seal(String(text.prefix(71))) == PUSHCRYPT_MISUSE && Self.code == "malformed-certificate")
        #expect(seal(String(text.dropLast(9))) == PUSHCRYPT_MISUSE && Self.code == "malformed-key")
    }

    private static func credential(of provider: ProviderKey, epoch: UInt32, floor: UInt32) throws -> SigningCredential {
        let key = SigningKey()
        let grace = floor == epoch ? nil : Timestamp(milliseconds: now + 86_400_000)
        let plan = CertificatePlan(epoch: epoch, floor: floor, graceUntil: grace, expiresAt: nil)
        let certificate = try UnsignedCertificate(
            plan, for: key.publicKey, provider: provider.publicKey, topic: try Topic(topic)
        ).signed(by: provider)
        return try SigningCredential(key, certificate, by: provider.publicKey)
    }

    private static func text(of credential: SigningCredential) -> String {
        credential.withText { String(decoding: ContiguousArray(copying: $0), as: UTF8.self) }
    }

    @Test(
        "A topic that ends as the topic of a call leaves a warning, until the next call",
        arguments: [topic, "\(topic).voip"])
    func topicOfACall(topic: String) throws {
        let provider = ProviderKey()
        let device = DeviceKey()
        for topic in [topic, Self.topic] {
            var (push, payload, length, opened) = (Self.untouched, Self.untouched, -1, pushcrypt_opened())
            opened.size = MemoryLayout<pushcrypt_opened>.size
            var result = unsafe pushcrypt_seal(
                Self.payload, Self.payload.utf8.count, "\(device.publicKey)", Self.text(of: provider), topic, Self.now,
                nil,
                &push, push.count, &length)
            #expect(result == PUSHCRYPT_DONE)
            let isWarned = topic != Self.topic
            #expect(Self.lastError.hasPrefix("warning: topic ends with .voip") == isWarned)
            #expect(Self.lastError.isEmpty == !isWarned)
            result = unsafe pushcrypt_open(
                push, length, nil, Self.text(of: device), "\(provider.publicKey)", topic, Self.now, &opened, &payload,
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
        let provider = ProviderKey()
        let device = try DeviceKey(suite)
        let topic = try Topic(Self.topic)
        let at = Timestamp(milliseconds: Self.now)

        let push = try Sealer(provider: provider, topic: topic).seal(
            Sealer.Message(Self.payload.utf8), to: device.publicKey, at: at
        )
        .json
        var output = Self.untouched
        var length = -1
        var opened = pushcrypt_opened()
        opened.size = MemoryLayout<pushcrypt_opened>.size
        var result = unsafe pushcrypt_open(
            push.map(CChar.init(bitPattern:)), push.count, nil,
            "\(Self.text(of: DeviceKey()))\n\(Self.text(of: device))",
            "\(provider.publicKey)", Self.topic, Self.now, &opened, &output, output.count, &length)
        #expect(result == PUSHCRYPT_DONE)
        #expect(Self.text(output.prefix(length)) == Self.payload)
        #expect(opened.sent_at == Self.now && opened.device_number == 2)
        let textLength = unsafe withUnsafeBytes(of: opened.device_key) { unsafe $0.prefix { $0 != 0 }.count }
        #expect(textLength == (suite == .x25519 ? 62 : 0))
        #expect(Self.lastError.isEmpty)

        result = unsafe pushcrypt_seal(
            Self.payload, Self.payload.utf8.count, "\(device.publicKey)", Self.text(of: provider), Self.topic, Self.now,
            nil, &output, output.count, &length)
        #expect(result == PUSHCRYPT_DONE)
        let opener = Opener(topic: topic, deviceKeys: [device], trust: ProviderTrust(pinned: [provider.publicKey]))
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

    @Test("What was learnt ends a stolen key, and two certificates of one epoch are told")
    func learned() throws {
        let (provider, device) = (ProviderKey(), DeviceKey())
        let topic = try Topic(Self.topic)
        let at = Timestamp(milliseconds: Self.now)
        func open(_ credential: SigningCredential, _ providers: String) throws -> (CInt, pushcrypt_opened) {
            let push = try Sealer(signer: EnvelopeSigner(credential, for: topic), topic: topic)
                .seal(Sealer.Message(Self.payload.utf8), to: device.publicKey, at: at).json
            var output = Self.untouched
            var length = -1
            var opened = pushcrypt_opened()
            opened.size = MemoryLayout<pushcrypt_opened>.size
            let result = unsafe pushcrypt_open(
                push.map(CChar.init(bitPattern:)), push.count, nil, Self.text(of: device), providers, Self.topic,
                Self.now, &opened, &output, output.count, &length)
            return (result, opened)
        }
        func learned(_ opened: pushcrypt_opened) -> String {
            unsafe withUnsafeBytes(of: opened.learned) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
        let stolen = try Self.credential(of: provider, epoch: 7, floor: 7)
        let (new, twin) = (
            try Self.credential(of: provider, epoch: 8, floor: 8), try Self.credential(of: provider, epoch: 8, floor: 8)
        )
        let pin = "\(provider.publicKey)"
        let first = try open(stolen, pin)
        #expect(first.0 == PUSHCRYPT_DONE && first.1.epoch == 7 && learned(first.1) == "\(stolen.certificate) 7")
        #expect(try learned(open(stolen, "\(pin) \(learned(first.1))").1).isEmpty)
        let second = try open(new, "\(pin) \(learned(first.1))")
        #expect(learned(second.1) == "\(new.certificate) 8")
        let after = "\(pin) \(learned(second.1))"
        #expect(try open(stolen, after).0 == PUSHCRYPT_REFUSED && Self.code == "authentication-failed")
        let (conflict, told) = try open(twin, after)
        #expect(conflict == PUSHCRYPT_DONE && told.certificate_conflict == 1)

        for (list, code) in [
            ("\(after)\n\(after)\n\(after)", "invalid-call"), ("\(after) 1", "invalid-call"),
            ("\(pin) \(new.certificate) 08", "invalid-call"), ("\(pin) AWgK 8", "malformed-certificate"),
            ("\(ProviderKey().publicKey) \(learned(second.1))", "bad-certificate-signature"),
        ] {
            #expect(try open(new, list).0 == PUSHCRYPT_MISUSE && Self.code == code, "\(list)")
        }
    }

    @Test("A message opens only as the type that it was sealed for", arguments: ["alert", "background", "voip", "mdm"])
    func pushTypes(type: String) throws {
        let (provider, device) = (ProviderKey(), DeviceKey())
        let push = try Sealer(provider: provider, topic: try Topic(Self.topic))
            .seal(Sealer.Message(Self.payload.utf8), to: device.publicKey, at: Timestamp(milliseconds: Self.now)).json
        var (output, length, opened) = (Self.untouched, -1, pushcrypt_opened())
        opened.size = MemoryLayout<pushcrypt_opened>.size
        let result = unsafe pushcrypt_open(
            push.map(CChar.init(bitPattern:)), push.count, type, Self.text(of: device), "\(provider.publicKey)",
            Self.topic, Self.now, &opened, &output, output.count, &length)
        switch type {
        case "alert": #expect(result == PUSHCRYPT_DONE)
        case "mdm": #expect(result == PUSHCRYPT_MISUSE && Self.code == "push-type-not-sealable")
        default: #expect(result == PUSHCRYPT_REFUSED && Self.code == "wrong-push-class")
        }
    }

    @Test("The header's capacities are those of the library")
    func capacities() {
        #expect(Int(PUSHCRYPT_LEARNED_CAPACITY) == Certificate.textLength + " \(UInt32.max)".utf8.count + 1)
        #expect(Int(PUSHCRYPT_PUSH_MAX) == PushType.voip.maximumPushLength)
        #expect(Int(PUSHCRYPT_PAYLOAD_MAX) >= PushType.voip.maximumPayloadLength)
        #expect(Int(PUSHCRYPT_KEY_CAPACITY) == "\(ProviderKey().publicKey)".utf8.count + 1)
        #expect(Int(PUSHCRYPT_KEY_CAPACITY) == "\(DeviceKey().publicKey)".utf8.count + 1)
        #expect(Int(PUSHCRYPT_ID_CAPACITY) == 2 * MessageID.length + 1)
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

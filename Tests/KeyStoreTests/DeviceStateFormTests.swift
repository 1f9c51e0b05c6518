import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The bytes of a device's state: one form, and nothing else is read.
struct DeviceStateFormTests {
    private static let keys = (0..<3).map { _ in DeviceKey() }
    private static let provider = ProviderKey()
    private static let other = ProviderKey()
    private static let updateKey = SigningKey()
    private static let scalars = keys.map(\.scalar) + [updateKey.withSeed { Bytes(copying: $0) }]
    private static let certificate = Result { try TestProvider(provider).certificate(5, floor: 3) }

    private static func text(_ bytes: Bytes) -> String { Base64URL.string(bytes.span) }

    /// A state as it is written, put together by hand.
    private static func json() throws -> String {
        let keys = keys.map { text($0.publicKey.bytes) }
        let providers = [provider, other].map { text($0.publicKey.bytes) }
        return """
            {"accounts":[{"name":"anna","topic":"com.example.app","keys":[\
            {"public_key":"\(keys[0])","generation":1,"state":"retiring","created":5,"retires":7},\
            {"public_key":"\(keys[1])","generation":2,"state":"active","created":6},\
            {"public_key":"\(keys[2])","generation":4,"state":"pending","created":8}],\
            "pins":[{"key":"\(providers[0])","origin":"app"},{"key":"\(providers[1])","origin":"reply"}],\
            "update_key":"\(text(updateKey.publicKey.bytes))"},{"name":"ben"}],\
            "learned":[{"provider":"\(providers[0])","topic":"com.example.app",\
            "certificate":"\(try certificate.get())","floor":4,"contradicted":true}],"installation":"i"}
            """
    }

    private static func bytes(_ json: String, _ secrets: [Bytes] = scalars, version: UInt8 = 1) -> Bytes {
        let count = Bytes([0, 0, UInt8(secrets.count >> 8), UInt8(secrets.count & 0xff)])
        return [version] + count + secrets.map { [UInt8($0.count)] + $0 }.joined() + Bytes(json.utf8)
    }

    private func parse(_ bytes: Bytes) throws -> DeviceState {
        let span = bytes.span
        return try DeviceState(parsing: span)
    }

    private func written(_ state: DeviceState) -> Bytes { state.form.bytes().withSpan { Bytes(copying: $0) } }

    @Test func aStateHasTheseBytes() throws {
        let bytes = Self.bytes(try Self.json())
        let state = try parse(bytes)
        #expect(written(state) == bytes)
        let account = try #require(state.account("anna"))
        #expect(account.keys.map(\.state) == [.retiring, .active, .pending])
        #expect(account.keys.map(\.generation) == [1, 2, 4])
        #expect(
            account.keys.map(\.createdAt.milliseconds) == [5, 6, 8] && account.keys[0].retiresAt?.milliseconds == 7)
        #expect(try account.keys.map { try $0.deviceKey().scalar } == Array(Self.scalars.prefix(3)))
        #expect(account.pins.map(\.key) == [Self.provider.publicKey, Self.other.publicKey])
        #expect(account.pins.map(\.origin) == [.app, .reply])
        #expect(try account.signingKey()?.publicKey == Self.updateKey.publicKey)
        let trust = try state.trust(for: .app, account: "anna")
        #expect(try trust.learned == LearnedTrust(Self.certificate.get(), floor: 4))
        #expect(state.learned.map(\.isContradicted) == [true] && state.installation == "i")
        #expect(written(DeviceState()) == Self.bytes("{}", []))
    }

    /// One thing wrong in each, by replacing a piece of a state that is right.
    private static let faults: [(String, String)] = [
        (#""anna""#, #""""#), (#""anna""#, #""a\n""#), (#""anna""#, #""ben""#), (#""anna""#, "7"),
        (#""name":"anna","#, ""), ("com.example.app", "a b"), ("com.example.app", ""),
        (#""generation":2"#, #""generation":1"#), (#""generation":2"#, #""generation":4"#),
        (#""generation":2"#, #""generation":-2"#), (#""generation":2"#, #""generation":2.0"#),
        (#""generation":2"#, #""generation":2e0"#), (#""generation":2"#, #""generation":"2""#),
        (#""generation":2"#, #""generation":18446744073709551616"#), (#""generation":2,"#, ""),
        (#""active""#, #""pending""#), (#""active""#, #""Active""#), (#""pending""#, #""active""#),
        (#""state":"active""#, #""state":"retiring","retires":9"#), (#""retiring""#, #""active""#),
        (#","retires":7"#, ""), (#""created":6"#, #""created":6,"retires":7"#), (#""created":6"#, #""created":null"#),
        (text(keys[1].publicKey.bytes), text(keys[0].publicKey.bytes)),
        (text(keys[1].publicKey.bytes), String(text(keys[1].publicKey.bytes).dropLast())),
        (text(keys[1].publicKey.bytes), text(keys[1].publicKey.bytes + [0])),
        (text(keys[1].publicKey.bytes), ""), (text(keys[1].publicKey.bytes), "+"),
        (text(other.publicKey.bytes) + #"","origin""#, text(provider.publicKey.bytes) + #"","origin""#),
        (text(other.publicKey.bytes), String(text(other.publicKey.bytes).dropLast())),
        (#"],"update_key""#, #",{"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE","origin":"app"}],"update_key""#),
        (#""reply""#, #""replies""#), (#""update_key""#, #""former_key""#), (#""update_key":""#, #""update_key":"A"#),
        (#""floor":4"#, #""floor":4294967296"#), (#""floor":4"#, #""floor":-1"#), (#","floor":4"#, ""),
        (#""contradicted":true"#, #""contradicted":1"#), (#""certificate":""#, #""certificate":"AAAA"#),
        (#""learned":["#, #""learned":[7,"#), (#""learned":["#, #""learned":[[],"#),
        (#""pins":["#, #""pins":{},"p":["#),
        (#""accounts""#, #""account""#), ("{\"accounts\"", "{{\"accounts\""), (#"{"name":"ben"}"#, #"{"name":"ben"},"#),
        (#"{"name":"ben"}"#, #"{"name":"ben"},{"name":"ben"}"#), (#""i"}"#, #""i"}}"#), (#""i"}"#, #""i""#),
        (#""i"}"#, #""i","relay":[]}"#),
        (#""i"}"#, #""i","ends":[{"account":"a","post":{"record":"","signature":""}}]}"#),
        (#""installation":"i""#, #""installation":{}"#),
    ]

    @Test func impossibleStatesAreNotRead() throws {
        let json = try Self.json()
        for (good, bad) in Self.faults {
            let pieces = json.split(separator: good, maxSplits: 1, omittingEmptySubsequences: false)
            try #require(pieces.count == 2, "\(good)")
            #expect(code { try parse(Self.bytes("\(pieces[0])\(bad)\(pieces[1])")) } == .corruptStore, "\(good) \(bad)")
        }
    }

    @Test func secretsAreAsManyAsThereAreKeys() throws {
        let (json, secrets) = (try Self.json(), Self.scalars)
        let wrong: [[Bytes]] = [[], secrets.dropLast(), secrets + [secrets[0]], [[]] + secrets.dropFirst()]
        for secrets in wrong { #expect(code { try parse(Self.bytes(json, secrets)) } == .corruptStore) }
        #expect(code { try parse(Self.bytes("{}", secrets)) } == .corruptStore)
        // Numbers of secrets for which there are no bytes.
        for count in [[0, 0, 0, 1], [0, 0, 0xff, 0xff], [0xff, 0xff, 0xff, 0xff]] as [Bytes] {
            for rest in [[], [0], [1], [1, 7], [255, 7]] as [Bytes] {
                #expect(code { try parse([1] + count + rest) } == .corruptStore)
            }
        }
    }

    /// Another's secret, or one of another length, is no use, and harms no other key.
    @Test func aSecretThatIsNotOfItsKeyIsNotUsed() throws {
        for secret in [Self.scalars[0], [7], Bytes(repeating: 9, count: 255)] as [Bytes] {
            let secrets = [Self.scalars[0], secret, Self.scalars[2], secret]
            let account = try #require(try parse(Self.bytes(Self.json(), secrets)).account("anna"))
            #expect(code { try account.keys[1].deviceKey() } == .corruptStore)
            #expect(code { try account.signingKey() } == .corruptStore)
            #expect(try account.keys[2].deviceKey().publicKey == Self.keys[2].publicKey)
        }
    }

    @Test func aNewerVersionIsNamed() throws {
        for version in 2...255 as ClosedRange<UInt8> {
            #expect(code { try parse(Self.bytes("", [], version: version)) } == .newerVersion)
        }
        #expect(code { try parse(Self.bytes(Self.json(), version: 0)) } == .corruptStore)
    }

    @Test func aStateShowsNoSecret() throws {
        let state = try parse(Self.bytes(try Self.json()))
        var text = "\(state) \(String(reflecting: state))"
        dump(state, to: &text)
        #expect(text.contains("anna"))
        for scalar in Self.scalars {
            for form in [scalar.hex, Self.text(scalar), "\(scalar.dropFirst().prefix(3).map { $0 })"] {
                #expect(!text.contains(form))
            }
        }
    }

    /// A state with something of everything.
    private func full() throws -> DeviceState {
        var state = try parse(Self.bytes(try Self.json()))
        try state.add(to: "ben", topic: .app, at: start)
        var registration = DeviceState.Registration()
        (registration.sequence, registration.address, registration.keyMadeAt) = (7, "https://example.com/p", start)
        (registration.permitsPostQuantum, registration.postQuantumRefusedAt) = (true, start)
        registration.acknowledgedAt = start
        (registration.pushKey, registration.nextPushKey) = (Self.updateKey.publicKey, SigningKey().publicKey)
        var report = DeviceState.Registration.Report(publicKey: Self.keys[0].publicKey)
        (report.provider, report.appVersion, report.token) = (Self.provider.publicKey, AppVersion("2.3.1"), "00ff")
        (report.environment, report.grant) = (.production, "00aa")
        registration.report = report
        let grant = DeviceState.Grant(
            "grant", secret: "secret", Self.updateKey.publicKey, address: "00bb", issuedAt: start, endsAt: start + 9)
        registration.grants = [grant]
        state.setRegistration(registration, of: 1)
        _ = try state.updateKey(of: 1)
        let end = SignedRecord(endOf: "device", at: Self.provider.publicKey, by: Self.updateKey, for: try .app)
        state.ends = [DeviceState.End(account: "carla", record: end, address: nil)]
        state.relay = DeviceState.Relay(origin: "https://relay.example.com", endsAll: true)
        state.relay?.ended = [grant]
        return state
    }

    @Test func somethingOfEverythingIsReadAsItWasWritten() throws {
        let state = try full()
        #expect(try state.readBack() == state)
        // Also the key of a suite with which this build cannot compute.
        var other = state
        let key = state.keys[0]
        other.accounts[0].keys[0] = DeviceState.Key(
            publicKey: try .postQuantum(), generation: 1, state: .retiring, createdAt: start, retiresAt: start,
            secret: key.secret)
        #expect(try other.readBack() == other && other != state)
    }
}

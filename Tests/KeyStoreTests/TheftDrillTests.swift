import Glibc
import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A thousand phones in every state after the theft of a signing key, and a provider that has its provider key
/// elsewhere: after one genuine push none believes the thief, and none is ever locked out.
struct TheftDrillTests {
    /// What a phone has seen when the provider says that the key was stolen.
    enum State: Int, CaseIterable {
        case knowsTheEpochAndIsSilent
        case twoYearsAsleep
        case fromEpochZero
        case knowsTheEpochInTheExtensionAlone
        case enrolledBefore
        case enrolledAfter
        case lostTheReply
        case builtInWithCertificate
        case restoredFromABackup
        case deceived

        /// The thief is refused from the first moment.
        var isWarned: Bool { self == .enrolledAfter }
    }

    private struct Phone {
        let state: State
        let device: DeviceKey
        let store: any DeviceKeyStore
        let keys: any DeviceKeyReading & OpeningEffects

        /// Receives a push as an extension does; returns whether it opens.
        func receive(_ push: Bytes, at now: Timestamp) throws -> Bool {
            let trust = try keys.trust(for: .app, account: "default")
            let opener = try Opener(topic: .app, deviceKeys: [device], trust: trust)
            guard let opened = try? opener.open(push, at: now) else { return false }
            try keys.settle(
                openedWith: opened.openedWith, provider: opened.provider, certificate: opened.certificate, topic: .app,
                at: now)
            return true
        }
    }

    /// A server that seals, for a few devices: the thousand phones share their keys, and nothing else.
    private final class Server {
        private let signer: EnvelopeSigner
        private var sealed: [DevicePublicKey: [Timestamp: Bytes]] = [:]

        init(_ signer: EnvelopeSigner) { self.signer = signer }

        func push(to device: DeviceKey, at time: Timestamp) throws -> Bytes {
            if let known = sealed[device.publicKey]?[time] { return known }
            let push = try Sealer(signer: signer, topic: .app)
                .seal(Bytes(#"{"aps":{"alert":"x"}}"#.utf8), to: device.publicKey, at: time).json
            sealed[device.publicKey, default: [:]][time] = push
            return push
        }
    }

    private static let twoYears = Interval.days(730)
    private let provider: SQLiteKeyStore
    private let key: ProviderKey
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        provider = try .inMemory(options: .quick)
        _ = try provider.generateProviderKey(topic: .app, at: start)
        key = try provider.providerSecret()
    }

    private func rotate(stolen: Bool = false, at now: Timestamp) throws -> Certificate {
        let request = try provider.requestCertificate(stolen: stolen, at: now).request
        _ = try provider.installCertificate(try request.certify(by: key, at: now), at: now) { _ in }
        return try #require(try provider.providerKey().certificate)
    }

    private func server() throws -> Server { Server(try provider.signer()) }

    private func phone(
        _ number: Int, _ state: State, _ device: DeviceKey, knowing certificates: [Certificate], by thief: Server,
        at now: Timestamp
    ) throws -> Phone {
        let store: any DeviceKeyStore = try (number % 4 == 0 ? DeviceStoreKind.memory : .keychain).store()
        _ = try store.importDeviceKey(device, named: "default", topic: .app, at: now)
        let (first, second, third) = (certificates[0], certificates[1], certificates[2])
        func pin(_ certificate: Certificate?) throws {
            try store.pinProvider(key.publicKey, certificate: certificate, topic: .app, at: now)
        }
        func enrol(_ certificate: Certificate) throws {
            let pin = ProviderPin(key.publicKey, certificate: certificate)
            try store.pinFirstProvider(pin, for: "default", topic: .app, at: now)
        }
        switch state {
        case .knowsTheEpochAndIsSilent, .builtInWithCertificate: try pin(second)
        case .twoYearsAsleep, .restoredFromABackup: try pin(first)
        case .fromEpochZero, .lostTheReply, .deceived, .knowsTheEpochInTheExtensionAlone: try pin(nil)
        case .enrolledBefore: try enrol(second)
        case .enrolledAfter: try enrol(third)
        }
        guard state == .knowsTheEpochInTheExtensionAlone else {
            let phone = Phone(state: state, device: device, store: store, keys: store)
            if state == .deceived { #expect(try phone.receive(thief.push(to: device, at: now), at: now)) }
            return phone
        }
        let directory = "\(scratch.path)/\(number)"
        try #require(unsafe mkdir(directory, 0o700) == 0)
        let keys = ExtensionKeys(keys: store, database: ExtensionDatabase(in: directory))
        try keys.settle(
            openedWith: device.publicKey, provider: key.publicKey, certificate: second, topic: .app, at: now)
        return Phone(state: state, device: device, store: store, keys: keys)
    }

    @Test func afterOneGenuinePushNoPhoneBelievesTheThiefAndNoneIsLockedOut() throws {
        // At epoch 0 the store holds the provider key. It goes offline, and two years later the signing key is
        // replaced.
        let first = try #require(try provider.takeProviderKeyOffline(key, at: start + 1).certificate)
        #expect(code { try provider.providerSecret() } == .providerOffline)
        let oldServer = try server()
        let theft = start.adding(Self.twoYears)
        // Its clock is believed, because devices register all the time.
        for days in stride(from: 28, through: 730, by: 28) as StrideThrough<UInt64> {
            let device = DeviceRegistration(publicKey: .numbered(Int(days)), createdAt: nil)
            _ = try provider.addDevice(device, id: "\(days)", at: start.adding(.days(days)))
        }
        let second = try rotate(at: theft)
        let thief = try server()
        let held = theft + 60
        // A day later the provider knows.
        let now = theft.adding(.days(1))
        let third = try rotate(stolen: true, at: now)
        let genuine = try server()
        let devices = (0..<8).map { _ in DeviceKey() }
        let phones = try (0..<1000).map { number in
            try phone(
                number, State.allCases[number % State.allCases.count], devices[number % devices.count],
                knowing: [first, second, third], by: thief, at: now)
        }

        // Before: the thief is believed where nobody has said otherwise, and the provider everywhere. The phones are
        // not changed.
        for phone in phones {
            let trust = try phone.keys.trust(for: .app, account: "default")
            let opener = try Opener(topic: .app, deviceKeys: [phone.device], trust: trust)
            let isBelieved = (try? opener.open(thief.push(to: phone.device, at: now), at: now)) != nil
            #expect(isBelieved != phone.state.isWarned, "\(phone.state)")
        }

        func everyoneOpens(_ server: Server, at now: Timestamp, _ what: Comment) throws {
            for phone in phones {
                let opens = try phone.receive(server.push(to: phone.device, at: now), at: now)
                #expect(opens, "\(what): \(phone.state)")
            }
        }
        func nobodyBelievesTheThief(at now: Timestamp, _ what: Comment) throws {
            let times = [now, held]
            for phone in phones {
                for (stolen, time) in times.map({ (thief, $0) }) + [(oldServer, now)] {
                    let opens = try phone.receive(stolen.push(to: phone.device, at: time), at: now)
                    #expect(!opens, "\(what): \(phone.state)")
                }
            }
        }
        try everyoneOpens(genuine, at: now + 1, "the first genuine push")
        try nobodyBelievesTheThief(at: now + 2, "after one genuine push")
        for phone in phones where phone.state == .knowsTheEpochInTheExtensionAlone {
            #expect(try phone.store.trust(for: .app, account: "default").learned == LearnedTrust())
        }

        // A planned rotation, the message that was under way, and two more years asleep.
        let later = now.adding(.days(10))
        let fourth = try rotate(at: later)
        #expect(fourth.floor == third.epoch)
        let next = try server()
        try everyoneOpens(next, at: later + 1, "after a planned rotation")
        try everyoneOpens(genuine, at: later + 2, "by a server that has the new key late")
        let end = later.adding(Self.twoYears)
        _ = try rotate(at: end)
        let last = try server()
        try everyoneOpens(last, at: end + 1, "after two years asleep")
        try nobodyBelievesTheThief(at: end + 2, "years later")
        print("theft drill: \(phones.count) phones in \(State.allCases.count) states")
    }
}

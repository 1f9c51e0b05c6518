import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore
@testable import Simulated

/// The drill of `Docs/Keys.md`, Stolen: a thief has the signing key, and the provider key is safe. After one genuine push,
/// no phone believes the thief, and none is ever locked out.
@Suite struct TheftDrillTests {
    /// The past of a phone until the genuine push.
    enum Past: CaseIterable {
        /// It has had no push since the theft.
        case asleep
        /// It has shown the thief's messages.
        case reachedByTheThief
        /// Its first reply was lost, and it has enrolled again since the theft.
        case enrolledAfter
        /// It has the pin that the app builds in, and no certificate.
        case newWithABuiltInPin
        /// It knows an earlier certificate only, from a backup.
        case restored
        /// It has been off for a year, and the thief reaches it first.
        case offForAYear
        /// It has the thief's certificate from the last reply, and two pins while a release changes them.
        case betweenReleases
    }

    /// The thief's last message.
    enum Attack: CaseIterable {
        /// A message like before.
        case again
        /// The genuine certificate before a message of his.
        case newCertificate
        /// His certificate, and the number of the genuine one.
        case newEpoch
        /// A certificate that he has signed himself.
        case ownCertificate
        /// No certificate, as at the beginning.
        case epochZero
        /// A message of the name that the provider will use next.
        case takenName
    }

    /// The keys of both sides.
    private struct Keys {
        let provider = ProviderKey()
        let other = ProviderKey()
        let first: SigningCredential
        let stolen: SigningCredential
        let new: SigningCredential
        let next: SigningCredential

        init() throws {
            first = try provider.certified(epoch: 10)
            stolen = try provider.certified(epoch: 20)
            new = try provider.certified(epoch: 30, floor: 30)
            next = try provider.certified(epoch: 40, floor: 30)
        }

        func signer(_ attack: Attack) throws -> EnvelopeSigner {
            func signer(_ certificate: Certificate) -> EnvelopeSigner {
                EnvelopeSigner(verified: certificate, stolen.key, by: provider.publicKey, for: .app)
            }
            switch attack {
            case .again, .takenName: return signer(stolen.certificate)
            case .newCertificate: return signer(new.certificate)
            case .newEpoch:
                var bytes = stolen.certificate.bytes
                bytes[1..<5] = new.certificate.bytes[1..<5]
                return signer(Certificate(checked: bytes))
            case .ownCertificate: return try EnvelopeSigner(ProviderKey().certified(epoch: 50, floor: 50), for: .app)
            case .epochZero: return try stolen.key.withSeed { EnvelopeSigner(try ProviderKey(seed: $0)) }
            }
        }
    }

    private struct DrillPhone {
        let folder: TemporaryFolder
        let store: any DeviceStore
        let key: DevicePublicKey
        let database: ExtensionDatabase

        init(_ pins: [ProviderPin], _ kind: StoreKind) throws {
            folder = try TemporaryFolder()
            database = try ExtensionDatabase.create(
                in: folder.path, floor: Timestamp.start.subtracting(Freshness.clockTolerance))
            store = try kind.make()
            key = try store.edit { state in
                try state.setPins(pins, topic: .app)
                return try state.add(topic: .app, at: .start).publicKey
            }
        }

        /// Seals a push and receives it; returns `opened`, or why not, and whether it rang.
        func receive(_ signer: EnvelopeSigner, named name: String? = nil, at now: Timestamp) throws -> (String, Bool) {
            var message = Sealer.Message(Provider.payload.utf8)
            message.name = name
            let push = try Sealer(signer: signer, topic: .app).seal(message, to: key, at: now).json
            let receiver = NotificationReceiver(store: store, database: database, topic: .app)
            let reception = receiver.receive(push, requestID: name, at: now)
            return (reception.code, reception.shown.sound)
        }
    }

    private static func play(_ past: Past, _ kind: StoreKind, _ attack: Attack, _ keys: Keys) throws {
        let pin = keys.provider.publicKey
        let pins =
            switch past {
            case .asleep, .reachedByTheThief, .offForAYear: [ProviderPin(pin, certificate: keys.stolen.certificate)]
            case .enrolledAfter, .newWithABuiltInPin: [ProviderPin(pin)]
            case .restored: [ProviderPin(pin, certificate: keys.first.certificate)]
            case .betweenReleases:
                [ProviderPin(keys.other.publicKey), ProviderPin(pin, certificate: keys.stolen.certificate)]
            }
        let phone = try DrillPhone(pins, kind)
        var now = past == .offForAYear ? Timestamp.start.plus(days: 365) : Timestamp.start.plus(seconds: 60)
        func later() -> Timestamp {
            now = now.plus(seconds: 1)
            return now
        }
        let thief = try EnvelopeSigner(keys.stolen, for: .app)
        let genuine = try EnvelopeSigner(keys.new, for: .app)
        if past != .asleep {
            for name in ["order 1", "order 2"] {
                #expect(try phone.receive(thief, named: name, at: later()) == ("opened", true))
            }
        }
        // One genuine push, of a name that the thief has used.
        #expect(try phone.receive(genuine, named: "order 1", at: later()) == ("opened", true))

        let name = attack == .takenName ? "order 3" : nil
        #expect(try phone.receive(keys.signer(attack), named: name, at: later()).0 == "authentication-failed")
        let known = try phone.store.state().trust(in: pin, for: .app).pins[0].learned
        #expect(known.certificate == keys.new.certificate && known.floor == 30)

        // The provider goes on, and rotates again.
        #expect(try phone.receive(genuine, named: "order 3", at: later()) == ("opened", true))
        #expect(try phone.receive(EnvelopeSigner(keys.next, for: .app), at: later()) == ("opened", true))
        #expect(try phone.receive(keys.signer(attack), at: later()).0 == "authentication-failed")
        #expect(
            try phone.receive(genuine, named: "order 4", at: later()).0
                == (past == .offForAYear ? "authentication-failed" : "opened"))
    }

    /// Every past with every store and every last attack.
    @Test(arguments: Past.allCases, StoreKind.allCases)
    func afterOneGenuinePushNoPhoneBelievesTheThief(_ past: Past, _ kind: StoreKind) throws {
        let keys = try Keys()
        for attack in Attack.allCases { try Self.play(past, kind, attack, keys) }
    }
}

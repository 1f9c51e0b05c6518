import ModelKeychain
import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore

/// The drill of `Docs/KeyRotation.md`, Stolen signing key: a thief has the sender key, rotates to keys of his own and reaches phones
/// first; then the recovery key puts a new sender key in place. After one genuine push, no phone believes the thief.
@Suite struct RecoveryDrillTests {
    /// The past of a phone until the genuine push.
    enum Past: CaseIterable {
        /// It has had no push since the theft.
        case asleep
        /// It has followed the thief's rotation.
        case reachedByTheThief
        /// It trusts the key before the stolen one.
        case restored
        /// It has been off for a year, and the thief's new rotation reaches it first.
        case offForAYear
    }

    /// Who opens the pushes.
    enum Opener: CaseIterable {
        case app
        case `extension`
        /// It has got enough from the thief to fill what it keeps.
        case floodedExtension
    }

    /// The keys of both sides. The thief has found a key with the id of the new one.
    private struct Keys {
        let first = ProviderKey()
        let stolen = ProviderKey()
        let thief: ProviderKey
        let new: ProviderKey
        let recovery = RecoveryKey()
        let statement: RotationStatement

        init() throws {
            thief = try Self.key("drill 39624")
            new = try Self.key("drill 82889")
            statement = try RecoveryRequest(by: recovery.publicKey, for: .app, to: new, serial: 1, at: .start)
                .signed(by: recovery).statement
        }

        private static func key(_ label: String) throws -> ProviderKey {
            let bytes = Bytes(label.utf8)
            let seed = SHA256.digest(bytes.span)
            return try ProviderKey(seed: seed.span)
        }
    }

    /// A phone whose app or whose extension opens the pushes.
    private struct DrillPhone {
        let folder: TemporaryFolder
        let store: any DeviceKeyStore
        let key: DevicePublicKey
        let extensionKeys: ExtensionKeys?
        let file: StatementFile
        let replay: ReplayFile

        init(trusting sender: ProviderKey, _ keys: Keys, hasExtension: Bool) throws {
            folder = try TemporaryFolder()
            file = StatementFile(in: folder.path)
            if hasExtension {
                store = KeychainKeyStore(
                    items: ModelKeychain().process("group.app"), accessGroup: "group.app", service: "pushcrypt")
                extensionKeys = ExtensionKeys(keys: store, statements: file)
            } else {
                store = try SQLiteKeyStore.inMemory()
                extensionKeys = nil
            }
            key = try store.generateDeviceKey(named: "default", topic: .app, at: .start).publicKey
            try store.pinFirstProvider(
                sender.publicKey, recoveryKeys: [keys.recovery.publicKey], named: "provider", topic: .app, at: .start)
            replay = try ReplayFile.create(in: folder.path, floor: .start)
        }

        /// Seals a push and receives it; returns `opened`, or why not.
        func receive(_ sender: ProviderKey, _ announcing: [RotationStatement], at now: Timestamp) throws -> String {
            var options = Sealer.Options()
            options.announcing = announcing
            let push = try Sealer(sender: sender, topic: .app)
                .seal(Provider.payload.utf8, to: key, at: now, options: options).json
            let receiver =
                if let extensionKeys {
                    NotificationReceiver(keys: extensionKeys, effects: extensionKeys, replay: replay, topic: .app)
                } else {
                    NotificationReceiver(keys: store, effects: store, replay: replay, topic: .app)
                }
            return receiver.receive(push, requestID: nil, at: now).code
        }

        var trust: ProviderTrust {
            get throws { try extensionKeys.map { try $0.trust(for: .app) } ?? store.trust(for: .app) }
        }
    }

    private static func play(_ past: Past, _ opener: Opener, _ last: Int, _ keys: Keys) throws {
        let phone = try DrillPhone(
            trusting: past == .restored ? keys.first : keys.stolen, keys, hasExtension: opener != .app)
        let now = past == .offForAYear ? Timestamp.start.plus(days: 365) : Timestamp.start.plus(seconds: 60)
        let theft = try RotationStatement(from: keys.stolen, to: keys.thief, at: now)

        // The thief comes first.
        switch past {
        case .asleep, .restored: break
        case .reachedByTheThief, .offForAYear:
            #expect(try phone.receive(keys.thief, [theft], at: now) == "opened")
            #expect(try phone.trust.pinned == [keys.thief.publicKey])
        }
        if opener == .floodedExtension { try flood(phone, from: keys.thief, at: now) }

        // One genuine push.
        #expect(try phone.receive(keys.new, [keys.statement], at: now.plus(seconds: 1)) == "opened")
        #expect(try phone.trust.pinned == [keys.new.publicKey])

        // Whatever the thief sends, also with a copy of the recovery; each phone gets one.
        let again = try RotationStatement(from: keys.thief, to: ProviderKey(), at: now)
        let pushes = [
            (keys.stolen, []), (keys.stolen, [keys.statement]), (keys.thief, [keys.statement]),
            (keys.thief, [keys.statement, theft]), (keys.thief, [again]),
        ]
        let (sender, statements) = pushes[last]
        let code = try phone.receive(sender, statements, at: now.plus(seconds: 2))
        #expect(code == "authentication-failed")
        if let change = try? phone.file.merge(into: phone.store, at: now.plus(seconds: 3)), phone.extensionKeys != nil {
            #expect(change.changes == [.recovered(to: keys.new.publicKey)] && change.refused == 0)
        }
        #expect(try phone.store.trust(for: .app).pinned == [keys.new.publicKey])
        #expect(try phone.receive(keys.new, [], at: now.plus(seconds: 4)) == "opened")
    }

    /// Rotates from key to key until the extension keeps no more.
    private static func flood(_ phone: DrillPhone, from first: ProviderKey, at now: Timestamp) throws {
        var key = first
        while true {
            var statements: [RotationStatement] = []
            for _ in 0..<4 {
                let next = ProviderKey()
                statements.append(try RotationStatement(from: key, to: next, at: now))
                key = next
            }
            let count = try phone.file.statements(for: .app).count
            _ = try phone.receive(key, statements, at: now)
            guard try phone.file.statements(for: .app).count > count else { break }
        }
        #expect(try phone.file.statements(for: .app).count > StatementFile.capacity - 4)
    }

    /// A thousand phones: every past with every opener and the thief's every last push. One that no push has reached cannot be
    /// flooded.
    @Test(arguments: Past.allCases, Opener.allCases)
    func afterOneGenuinePushNoPhoneBelievesTheThief(_ past: Past, _ opener: Opener) throws {
        guard opener != .floodedExtension || past == .reachedByTheThief || past == .offForAYear else { return }
        let keys = try Keys()
        #expect(keys.thief.publicKey.id == keys.new.publicKey.id && keys.thief.publicKey != keys.new.publicKey)
        for _ in 0..<(opener == .floodedExtension ? 4 : 24) {
            for last in 0..<5 { try Self.play(past, opener, last, keys) }
        }
    }
}

import Foundation
import Pushcrypt

@testable import PushcryptKeyStore
@testable import Simulated

/// A provider's server, with its store on a disk, a clock that may be wrong, and backups.
final class Provider {
    typealias Bytes = ContiguousArray<UInt8>

    /// A push as `seal` writes it.
    struct Line {
        let number: Int
        /// The device token or the grant.
        let target: String
        let json: Bytes
        /// `apns-expiration`, in milliseconds.
        let end: Int64
    }

    private unowned let world: World
    let topic: Topic
    private(set) var disk: TemporaryFolder
    private(set) var store: SQLiteKeyStore
    /// Its clock's lead, in milliseconds.
    var clock: Int64 = 0
    /// The provider key, if it is kept elsewhere.
    let key: ProviderKey?
    private let vault: TemporaryFolder
    private var backups: [(path: String, at: UInt64)] = []
    /// When the store took the last record of a device, by the true time.
    private(set) var taken: [String: UInt64] = [:]

    init(_ world: World, _ topic: Topic, isOffline: Bool, hasPushKey: Bool) throws {
        (self.world, self.topic) = (world, topic)
        (disk, vault) = (try TemporaryFolder(), try TemporaryFolder())
        let now = world.loop.time()
        store = try SQLiteKeyStore.create(in: disk.path, passphrase: nil)
        key = isOffline ? ProviderKey() : nil
        if let key {
            _ = try store.addOfflineProviderKey(key, topic: topic, at: now)
        } else {
            _ = try store.generateProviderKey(topic: topic, at: now)
        }
        if hasPushKey { _ = try store.addPushKey(at: now) }
    }

    var now: Timestamp { world.loop.time(clock) }

    var epoch: UInt32 { (try? store.providerKey().epoch) ?? 0 }

    var floor: UInt32 { (try? store.providerKey().certificate?.floor) ?? 0 }

    /// The push keys with which it may sign.
    var pushKeys: [String] {
        guard let keys = try? store.pushKeys(at: now) else { return [] }
        return [keys.current, keys.previous, keys.next].compactMap { $0?.publicKey.text }
    }

    /// Does some work, which nothing may refuse. The process may be killed before it, or after it but before it reports.
    @discardableResult
    private func work<Result>(_ what: String, mayDie: Bool = true, _ body: () throws -> Result) throws -> Result? {
        let dies = mayDie && world.kills && world.loop.chance(10)
        if dies, world.loop.chance(50) {
            world.loop.note("provider: killed before: \(what)")
            try crash()
            return nil
        }
        do {
            let result = try body()
            world.loop.note("provider: \(what)")
            guard dies else { return result }
            world.loop.note("provider: killed")
        } catch {
            world.ledger.refused("\(what): \((error as? KeyStoreError)?.code.description ?? "\(error)")")
            return nil
        }
        try crash()
        return nil
    }

    /// Goes on with the files that a killed process left.
    func crash() throws {
        disk = try disk.copy()
        store = try SQLiteKeyStore.open(in: disk.path, passphrase: nil)
    }

    // MARK: Registrations

    /// Answers a post; nil for status 404.
    func accept(_ post: Bytes, session user: String?, mayDie: Bool = true) throws -> (status: Int, body: Bytes)? {
        guard let post = try? PhonePost(json: post, over: user == nil ? .open : .session) else { return (404, []) }
        return try work("post of \(user ?? "nobody")", mayDie: mayDie) {
            let session: DeviceOwner? = user.map { .user($0) }
            guard let answer = try store.accept(post, session: session, ReplyTerms(topic: topic), at: now) else {
                return (404, [])
            }
            switch answer.event {
            case .registered(let id, _): taken[id] = world.loop.now
            case .refused(let refusal, _): world.loop.note("provider: refuses \(refusal)")
            default: break
            }
            return (200, answer.body)
        }
    }

    var devices: [DeviceRecord] {
        get throws {
            var devices: [DeviceRecord] = []
            try store.forEachDevice { devices.append(try $0.get()) }
            return devices
        }
    }

    /// The devices that a repeated post must not change. Those of logged-out users are left out: a repeated end may end them.
    var state: [String] {
        get throws {
            try devices.filter { world.isLoggedIn($0.id) }.map {
                "\($0.id) \($0.publicKey.id) \($0.sequence) \($0.token ?? "") \($0.grant ?? "")"
            }
        }
    }

    /// APNs reports that a device token is gone, or the relay that a grant has ended.
    func lost(_ target: String, at time: Int64) throws {
        try work("410") {
            for device in try devices where device.token == target {
                let time = Timestamp(milliseconds: UInt64(time))
                let lost = LostDevice(id: device.id, at: time, reason: "Unregistered", token: target)
                let isGone = try store.removeDevices([lost], at: now).removed > 0
                if isGone, let login = world.login(of: device.id) { world.ledger.gone(login) }
            }
            for device in try devices where device.grant == target {
                _ = try store.endGrants([EndedGrant(id: device.id, grant: target)])
            }
        }
    }

    // MARK: Messages

    /// Seals a message for every device of a user.
    func seal(to user: String, named name: String?, withdrawing: String? = nil, life: Interval = .days(30)) throws {
        let devices = try work("devices of \(user)") { try store.devices(ofUser: user).map { try $0.get() } } ?? []
        for device in devices {
            let number = world.nextNumber()
            let text = #"{"aps":{"alert":{"title":"\#(number)","body":"Hello"},"sound":"default"}}"#
            var message = Sealer.Message(text.utf8)
            (message.name, message.timeToLive) = (name, life)
            message.withdrawing = withdrawing.map { [$0] } ?? []
            let sealed = try work("seal \(number) to \(user), epoch \(epoch)", mayDie: false) {
                try Sealer(signer: store.signer(), topic: topic).seal(message, to: device.publicKey, at: now)
            }
            guard let sealed, let login = world.login(of: device.id) else { continue }
            let sealedAt = Int64(now.milliseconds)
            let end = sealedAt + Int64(life.seconds) * 1000
            world.ledger.sealed(
                Ledger.Message(
                    number: number, login: login, name: name ?? "\(number)", sealedAt: sealedAt,
                    life: Int64(life.seconds) * 1000, epoch: epoch, key: device.publicKey.id.description),
                withdrawing: withdrawing)
            guard let target = device.grant ?? device.token else {
                world.ledger.excuse(number)
                continue
            }
            try world.sender.send(Line(number: number, target: target, json: sealed.json, end: end))
        }
    }

    // MARK: Keys

    func rotate(stolen: Bool = false, mayDie: Bool = true) throws {
        let (before, now) = (epoch, now)
        try work("rotate\(stolen ? " after a theft" : "")", mayDie: mayDie) {
            if let key {
                // The key's machine has its own clock.
                let request = try store.requestCertificate(stolen: stolen, at: now).request
                _ = try store.installCertificate(try request.certify(by: key, at: world.loop.time()), at: now)
            } else {
                _ = try store.rotateSigningKey(at: now)
            }
        }
        guard epoch != before else { return }
        world.ledger.rotated(
            topic.bundleID, from: before, to: epoch, floor: floor, stolen: stolen,
            at: Int64((key == nil ? now : world.loop.time()).milliseconds))
        world.loop.note("provider: epoch \(epoch), floor \(floor)")
    }

    /// Adds the push key that replaces the present one in seven days.
    func nextPushKey() throws {
        guard try store.hasPushKey(), try store.pushKeys(at: now)?.next == nil else { return }
        try work("next push key") { _ = try store.addNextPushKey(at: now) }
    }

    // MARK: Backups

    func backUp() throws {
        let path = vault.path(of: "backup-\(backups.count)")
        let at = world.loop.now
        try work("back up", mayDie: false) { try store.backUp(to: path) }
        backups.append((path, at))
    }

    /// Whether a secret lies in the clear in the database or a backup.
    func shows(_ files: TemporaryFolder) throws -> Bool {
        let signing = try store.signingCredential().credential?.key.withSeed { Bytes(copying: $0) }
        let push = try? store.pushSecrets(at: now).current.withSeed { Bytes(copying: $0) }
        return try [StoreFiles(in: files), StoreFiles(in: vault)].contains { files in
            [signing, push].contains { $0.map(files.contain) ?? false }
        }
    }

    /// Restores a backup over the store, then rotates, as `Docs/Operations.md` says.
    func restore() throws {
        guard let backup = world.loop.pick(backups) else { return }
        let done: Void? = try work("restore", mayDie: false) {
            _ = try SQLiteKeyStore.restore(
                backup.path, to: disk.path, key: nil, passphrase: nil, replace: true, at: now)
        }
        guard done != nil else { return }
        try crash()
        world.ledger.restored(topic.bundleID, to: backup.at, at: world.loop.now)
        try rotate(mayDie: false)
    }
}

import Foundation
import Pushcrypt

@testable import PushcryptKeyStore
@testable import Simulated

/// A thief, who reads stores, backups, logs and traffic, and uses them.
final class Thief {
    typealias Bytes = ContiguousArray<UInt8>

    private unowned let world: World
    private var pushes: [(line: Provider.Line, app: App)] = []
    private var posts: [(body: Bytes, provider: Provider)] = []
    /// A stolen signing key, with its certificate.
    private var signer: (EnvelopeSigner, epoch: UInt32)?

    init(_ world: World) { self.world = world }

    func hears(_ post: Bytes, _ provider: Provider) { posts.append((post, provider)) }

    func sees(_ line: Provider.Line, _ app: App) { pushes.append((line, app)) }

    /// Repeats a push that it saw.
    func repeatPush() throws {
        guard let (line, app) = world.loop.pick(pushes), app.phone.isOnline else { return }
        world.loop.note("thief: \(line.number) again")
        try app.receive(line.number, line.json, request: world.loop.chance(50) ? "thief" : nil)
    }

    /// Posts a phone's record again, without the session in which it was sent.
    func repeatPost() throws {
        guard let (body, provider) = world.loop.pick(posts) else { return }
        let before = try provider.state
        world.loop.note("thief: a post again")
        _ = try provider.accept(body, session: nil, mayDie: false)
        if try provider.state != before { world.ledger.thief("a repeated post changes a device") }
    }

    /// Reads the database and a backup, without `store.key`.
    func readDatabase() throws {
        world.loop.note("thief: reads the database")
        let copy = try world.provider.disk.copy()
        try FileManager.default.removeItem(at: copy.file("store.key"))
        if (try? SQLiteKeyStore.open(in: copy.path, passphrase: nil)) != nil {
            world.ledger.thief("the database opens without its key")
        }
        if try world.provider.shows(copy) { world.ledger.thief("a secret lies in the database or a backup") }
        try forge(with: nil)
    }

    /// Reads everything, and so has the signing key. The provider notices within five days.
    func stealSigningKey() throws {
        guard world.provider.key != nil, signer == nil else { return }
        world.loop.note("thief: steals the signing key")
        let disk = try world.provider.disk.copy()
        let copy = try SQLiteKeyStore.open(in: disk.path, passphrase: nil)
        signer = (try copy.signer(), try copy.providerKey().epoch)
        world.ledger.signingKeyStolen(world.provider.topic.bundleID, signer?.epoch ?? 0)
        world.loop.after(world.loop.below(5 * Time.day)) { [unowned self] in try react() }
    }

    private func react() throws {
        let epoch = signer?.epoch ?? 0
        try world.provider.rotate(stolen: true)
        // The process was killed before it rotated: once more.
        if world.provider.floor <= epoch { world.loop.after(Time.hour) { [unowned self] in try react() } }
    }

    func forge() throws { try forge(with: signer) }

    /// Seals to a device whose key the database has.
    private func forge(with stolen: (signer: EnvelopeSigner, epoch: UInt32)?) throws {
        let provider = world.provider
        guard let device = world.loop.pick(try provider.devices), let login = world.login(of: device.id),
            let app = world.app(of: device.id), app.phone.isOnline
        else { return }
        let number = world.nextNumber()
        let (now, text) = (world.loop.time(), #"{"aps":{"alert":"\#(number)","sound":"default"}}"#)
        let signer = stolen?.signer ?? EnvelopeSigner(ProviderKey())
        let json = try Sealer(signer: signer, topic: provider.topic)
            .seal(Sealer.Message(text.utf8), to: device.publicKey, at: now).json
        world.loop.note("thief: forges \(number)")
        world.ledger.sealed(
            Ledger.Message(
                number: number, login: login, name: "\(number)", sealedAt: Int64(now.milliseconds),
                epoch: stolen?.epoch ?? 0, isForged: true))
        try app.receive(number, json)
    }
}

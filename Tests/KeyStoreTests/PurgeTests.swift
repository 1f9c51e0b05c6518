import Pushcrypt
import Seed
import Testing

@testable import PushcryptKeyStore

/// A deleted secret is in none of the store's files, not even sealed.
struct PurgeTests {
    /// The sealed states.
    private func sealed(_ home: Home) throws -> [Bytes] {
        try ["device", "provider"].compactMap { try home.sealed($0) }
    }

    /// The nonce, the ciphertext and the tag; a piece of it is as bad as the whole.
    private func pieces(_ sealed: Bytes) -> [Bytes] {
        [Bytes(sealed[..<24]), Bytes(sealed[24..<56]), Bytes(sealed.suffix(16))]
    }

    private func expectGone(_ blobs: [Bytes], _ home: Home, _ comment: Comment? = nil) throws {
        let bytes = try home.scratch.bytes()
        #expect(!blobs.isEmpty && !blobs.flatMap(pieces).contains(where: bytes.contains), comment)
    }

    @Test func aSecretIsNeverInTheFilesInTheClear() throws {
        let home = try Home()
        let (device, provider) = (DeviceKey(), ProviderKey())
        try home.store.add(device)
        _ = try home.store.importProviderKey(provider, at: start)
        let bytes = try home.scratch.bytes()
        #expect(!bytes.contains(device.scalar) && !bytes.contains(provider.seed))
        for blob in try sealed(home) { #expect(bytes.contains(blob)) }
    }

    /// Each way in which a secret is lost, with every state that held it.
    @Test(arguments: [0, 1, 2, 3])
    func aLostSecretIsGoneFromTheFiles(_ way: Int) throws {
        let home = try Home()
        try home.store.add(to: "one")
        var blobs = try sealed(home)
        for change in [
            { try home.store.add(to: "two") }, { try home.store.rotate("one") }, { _ = try home.store.confirm("one") },
            { try home.store.change { state in _ = try? state.updateKey(of: 0) } },
        ] as [() throws -> Void] {
            try change()
            blobs += try sealed(home)
        }
        #expect(try home.holds(blobs[0]), "no secret was lost so far")
        switch way {
        case 0: #expect(try home.store.change { $0.purge(endedBefore: start.next) }.count == 1)
        case 1: #expect(try home.store.change { $0.removeAccount("one") }.count == 2)
        case 2: try home.store.change { $0.forgetKeys(of: 1) }
        default: try home.store.discard()
        }
        try expectGone(blobs, home)
        #expect(home.store.states.device.withLock { $0.state == nil }, "nor in the memory of this process")
        let kept = try sealed(home)
        #expect(try kept.isEmpty == (way == 3) && kept.allSatisfy(home.scratch.bytes().contains))
    }

    /// A state that nobody can read any more goes too.
    @Test func aDamagedStateIsDiscarded() throws {
        let home = try Home()
        try home.store.add()
        try home.raw().execute("UPDATE states SET revision = zeroblob(16)")
        let blobs = try sealed(home)
        #expect(code { try home.store.add(to: "new") } == .corruptStore)
        #expect(try sealed(home) == blobs)
        try home.store.discard()
        try expectGone(blobs, home)
        #expect(try home.store.load() == nil && home.store.add().generation == 1)
    }

    /// Each way in which a provider's secret is lost, with every state that held it.
    @Test(arguments: 0..<7) func aLostProviderSecretIsGoneFromTheFiles(_ way: Int) throws {
        let home = try Home()
        let (store, key) = (home.store, ProviderKey())
        _ = try store.importProviderKey(key, topic: .app, at: start)
        var blobs = try sealed(home)
        func code(at now: Timestamp) throws {
            let code = try PairingCode(url: "https://home.example.net/pair", provider: key.publicKey)
            try store.addPairing(code, topic: .app, provider: key.publicKey, at: now)
        }
        let changes: [() throws -> Void] = [
            { try store.rotateSigningKey(at: start) }, { _ = try store.answerSecret(at: start) },
            { _ = try store.addPushKey(at: start) }, { try code(at: start) },
            { _ = try store.requestCertificate(at: start) }, { try store.setSetting("a", named: "title") },
        ]
        for change in changes {
            try change()
            blobs += try sealed(home)
        }
        let request = try store.requestCertificate(at: start).request
        try expectGone(blobs, home, "a request that was replaced")
        blobs = try sealed(home)
        switch way {
        case 0: try store.rotateSigningKey(at: start)
        case 1: _ = try store.installCertificate(request.certify(by: key, at: start + 1), at: start + 1)
        case 2: _ = try store.takeProviderKeyOffline(key, at: start)
        case 3: _ = try store.removeProviderKey(named: "default")
        case 4: try store.removePushKey()
        case 5: try code(at: start + 600)
        default: try store.rotateSigningKey(stolen: true, anyway: true, at: start)
        }
        try expectGone(blobs, home)
        #expect(store.states.provider.withLock { $0.state == nil }, "nor in the memory of this process")
        #expect(try home.holds(#require(try home.sealed())))
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    /// Rows that grow and shrink move between pages; none of them may leave a copy behind.
    @Test(arguments: 1...4)
    func noCopyIsLeftAfterManyRotationsOfManyKeys(_ seed: UInt64) throws {
        let home = try Home()
        var random = Seed(seed)
        var deleted: Set<Bytes> = []
        var names: [String] = []
        for index in 0..<40 {
            let name = String(repeating: "n", count: 1 + Int(random.next() % 200)) + "\(index)"
            _ = try home.store.generateProviderKey(named: name, topic: .app, at: start)
            _ = try home.store.rotateSigningKey(named: name, at: start)
            try home.store.add(to: name, topic: .app)
            names.append(name)
        }
        for round in 0..<60 {
            let name = names[Int(random.next() % UInt64(names.count))]
            let before = Set(try sealed(home))
            switch random.next() % 4 {
            case 0:
                try home.store.change { $0.removeAccount(name) }
                names.removeAll { $0 == name }
            case 1:
                try home.store.rotate(name)
                try home.store.confirm(name)
                try home.store.change { $0.purge(name, endedBefore: start.next) }
            default: _ = try home.store.rotateSigningKey(named: name, at: start + UInt64(round))
            }
            deleted.formUnion(before)
            deleted.subtract(try sealed(home))
        }
        let bytes = try home.scratch.bytes()
        let left = deleted.filter { pieces($0).contains(where: bytes.contains) }
        #expect(deleted.count >= 60 && left.isEmpty, "\(left.count) of \(deleted.count) are left")
    }

    @Test func whileAnotherProcessReadsThePurgeSaysSoAndASecondFinishes() throws {
        let home = try Home(options: .impatient)
        try home.store.add()
        let blobs = try sealed(home)
        let reader = try home.raw()
        try reader.execute("BEGIN; SELECT * FROM states")
        try home.store.change { $0.removeAccount("default") }
        #expect(try home.store.keys().isEmpty)
        try reader.execute("COMMIT")
        try home.store.eraseDeleted()
        try expectGone(blobs, home)
    }
}

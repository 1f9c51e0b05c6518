import Pushcrypt
import Seed
import Testing

@testable import PushcryptKeyStore

/// A deleted secret is in none of the store's files, not even sealed.
struct PurgeTests {
    /// The sealed forms of the secrets in a table.
    private func sealed(_ table: String, _ home: Home, _ column: String = "sealed") throws -> [Bytes] {
        try home.raw().rows("SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL").map { row in
            guard case .blob(let bytes)? = row.first else { throw Scratch.Unavailable() }
            return bytes
        }
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
        #expect(bytes.contains(provider.publicKey.bytes))
        for blob in try sealed("states", home) + sealed("provider_keys", home) { #expect(bytes.contains(blob)) }
    }

    /// Each way in which a secret is lost, with every state that held it.
    @Test(arguments: [0, 1, 2, 3])
    func aLostSecretIsGoneFromTheFiles(_ way: Int) throws {
        let home = try Home()
        try home.store.add(to: "one")
        var blobs = try sealed("states", home)
        for change in [
            { try home.store.add(to: "two") }, { try home.store.rotate("one") }, { _ = try home.store.confirm("one") },
            { try home.store.change { state in _ = try? state.updateKey(of: 0) } },
        ] as [() throws -> Void] {
            try change()
            blobs += try sealed("states", home)
        }
        #expect(try home.scratch.bytes().contains(blobs[0]), "no secret was lost so far")
        switch way {
        case 0: #expect(try home.store.change { $0.purge(endedBefore: start.next) }.count == 1)
        case 1: #expect(try home.store.change { $0.removeAccount("one") }.count == 2)
        case 2: try home.store.change { $0.forgetKeys(of: 1) }
        default: try home.store.discard()
        }
        try expectGone(blobs, home)
        #expect(home.store.cache.withLock { $0.state == nil }, "nor in the memory of this process")
        let kept = try sealed("states", home)
        #expect(try kept.isEmpty == (way == 3) && kept.allSatisfy(home.scratch.bytes().contains))
    }

    /// A state that nobody can read any more goes too.
    @Test func aDamagedStateIsDiscarded() throws {
        let home = try Home()
        try home.store.add()
        try home.raw().execute("UPDATE states SET revision = zeroblob(16)")
        let blobs = try sealed("states", home)
        #expect(code { try home.store.add(to: "new") } == .corruptStore)
        #expect(try sealed("states", home) == blobs)
        try home.store.discard()
        try expectGone(blobs, home)
        #expect(try home.store.load() == nil && home.store.add().generation == 1)
    }

    @Test func aReplacedSigningKeyIsGoneFromTheFiles() throws {
        let home = try Home()
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        let provider = try sealed("provider_keys", home)[0]
        _ = try home.store.rotateSigningKey(at: start)
        let old = try sealed("provider_keys", home, "signing_sealed")
        #expect(try home.scratch.bytes().contains(old[0]))
        _ = try home.store.rotateSigningKey(at: start)
        try expectGone(old, home)
        let after = try home.scratch.bytes()
        #expect(after.contains(try sealed("provider_keys", home, "signing_sealed")[0]))
        #expect(after.contains(provider), "the provider key stays")
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
            let before = Set(try sealed("provider_keys", home, "signing_sealed") + sealed("states", home))
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
            deleted.subtract(try sealed("provider_keys", home, "signing_sealed") + sealed("states", home))
        }
        let bytes = try home.scratch.bytes()
        let left = deleted.filter { pieces($0).contains(where: bytes.contains) }
        #expect(deleted.count >= 60 && left.isEmpty, "\(left.count) of \(deleted.count) are left")
    }

    @Test func whileAnotherProcessReadsThePurgeSaysSoAndASecondFinishes() throws {
        let home = try Home(options: .impatient)
        try home.store.add()
        let blobs = try sealed("states", home)
        let reader = try home.raw()
        try reader.execute("BEGIN; SELECT * FROM states")
        #expect(code { try home.store.change { $0.removeAccount("default") } } == .storeBusy)
        #expect(try home.store.keys().isEmpty)
        try reader.execute("COMMIT")
        try home.store.eraseDeleted()
        try expectGone(blobs, home)
    }

    @Test func whileAnotherProcessReadsARotationIsDoneAllTheSame() throws {
        let home = try Home(options: .impatient)
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        let first = try home.store.rotateSigningKey(at: start)
        let blobs = try sealed("provider_keys", home, "signing_sealed")
        do {
            let reader = try home.raw()
            try reader.execute("BEGIN; SELECT * FROM provider_keys")
            #expect(try home.store.rotateSigningKey(at: start).epoch == first.epoch + 1)
            try reader.execute("COMMIT")
        }
        try home.store.eraseDeleted()
        try expectGone(blobs, home)
    }
}

import Pushcrypt
import Seed
import Testing

@testable import PushcryptKeyStore

/// A deleted secret is in none of the store's files, not even sealed.
struct PurgeTests {
    /// The sealed forms of the secrets in a table.
    private func sealed(_ table: String, _ home: Home, _ column: String = "sealed") throws -> [Bytes] {
        try home.raw().rows("SELECT \(column) FROM \(table) ORDER BY id").map { row in
            guard case .blob(let bytes)? = row.first else { throw Scratch.Unavailable() }
            return bytes
        }
    }

    /// The nonce, the ciphertext and the tag; a piece of it is as bad as the whole.
    private func pieces(_ sealed: Bytes) -> [Bytes] {
        [Bytes(sealed[..<24]), Bytes(sealed[24..<56]), Bytes(sealed[56...])]
    }

    @Test func aSecretIsNeverInTheFilesInTheClear() throws {
        let home = try Home()
        let (device, provider) = (DeviceKey(), ProviderKey())
        _ = try home.store.importDeviceKey(device, at: start)
        _ = try home.store.importProviderKey(provider, at: start)
        let bytes = try home.scratch.bytes()
        #expect(!bytes.contains(device.scalar) && !bytes.contains(provider.seed))
        #expect(bytes.contains(device.publicKey.bytes) && bytes.contains(provider.publicKey.bytes))
        for blob in try sealed("device_keys", home) + sealed("provider_keys", home) { #expect(bytes.contains(blob)) }
    }

    @Test func aRetiredKeyIsGoneFromTheFiles() throws {
        let home = try Home()
        _ = try home.store.generateDeviceKey(at: start)
        var blobs = try sealed("device_keys", home)
        _ = try home.store.rotateDeviceKey(at: start)
        _ = try home.store.confirmDeviceKey(grace: .seconds(60), at: start)
        blobs += try sealed("device_keys", home)
        #expect(blobs.count == 3, "active, retiring, and the new active one")
        let before = try home.scratch.bytes()
        #expect(before.contains(blobs[1]) && before.contains(blobs[2]))
        #expect(try home.store.purgeRetiredDeviceKeys(at: start + 61).count == 1)
        let after = try home.scratch.bytes()
        for piece in pieces(blobs[0]) + pieces(blobs[1]) { #expect(!after.contains(piece)) }
        #expect(after.contains(blobs[2]), "the active key is still there")
    }

    @Test func atLogOutEveryKeyIsGoneFromTheFiles() throws {
        let home = try Home()
        _ = try home.store.generateDeviceKey(named: "one", at: start)
        _ = try home.store.rotateDeviceKey(named: "one", at: start)
        let blobs = try sealed("device_keys", home)
        _ = try home.store.generateDeviceKey(named: "two", at: start)
        let kept = try #require(try sealed("device_keys", home).last)
        _ = try home.store.purgeDeviceKeys(named: "one")
        let after = try home.scratch.bytes()
        for piece in blobs.flatMap(pieces) { #expect(!after.contains(piece)) }
        #expect(after.contains(kept))
    }

    @Test func whatAnEarlierInstallationLeftIsGoneFromTheFiles() throws {
        let home = try Home()
        _ = try home.store.generateDeviceKey(named: "one", at: start)
        _ = try home.store.generateDeviceKey(named: "two", at: start)
        let blobs = try sealed("device_keys", home)
        // A row that nobody can read any more goes too.
        try home.raw().execute("UPDATE device_keys SET tag = zeroblob(32) WHERE name = 'one'")
        try home.store.purgeEverything()
        let after = try home.scratch.bytes()
        for piece in blobs.flatMap(pieces) { #expect(!after.contains(piece)) }
        #expect(try home.store.deviceKeys().isEmpty)
    }

    @Test func aReplacedSigningKeyIsGoneFromTheFiles() throws {
        let home = try Home()
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        let provider = try sealed("provider_keys", home)[0]
        _ = try home.store.rotateSigningKey(at: start)
        let old = try sealed("provider_keys", home, "signing_sealed")
        #expect(try home.scratch.bytes().contains(old[0]))
        _ = try home.store.rotateSigningKey(at: start)
        let after = try home.scratch.bytes()
        for piece in pieces(old[0]) { #expect(!after.contains(piece)) }
        #expect(after.contains(try sealed("provider_keys", home, "signing_sealed")[0]))
        #expect(after.contains(provider), "the provider key stays")
    }

    /// Rows that grow and shrink move between pages; none of them may leave a copy behind.
    @Test(arguments: 1...4)
    func noCopyIsLeftAfterManyRotationsOfManyKeys(_ seed: UInt64) throws {
        let home = try Home()
        var random = Seed(seed)
        var deleted: [Bytes] = []
        for index in 0..<40 {
            let name = String(repeating: "n", count: 1 + Int(random.next() % 200)) + "\(index)"
            _ = try home.store.generateProviderKey(named: name, topic: .app, at: start)
            _ = try home.store.rotateSigningKey(named: name, at: start)
            _ = try home.store.generateDeviceKey(named: name, topic: .app, at: start)
        }
        for round in 0..<60 {
            let names = try home.store.deviceKeys().map(\.name)
            let name = names[Int(random.next() % UInt64(names.count))]
            let before = Set(try sealed("provider_keys", home, "signing_sealed") + sealed("device_keys", home))
            switch random.next() % 4 {
            case 0: _ = try home.store.purgeDeviceKeys(named: name)
            case 1:
                _ = try home.store.rotateDeviceKey(named: name, at: start)
                _ = try home.store.confirmDeviceKey(named: name, grace: .seconds(0), at: start)
                _ = try home.store.purgeRetiredDeviceKeys(named: name, at: start + 1)
            default: _ = try home.store.rotateSigningKey(named: name, at: start + UInt64(round))
            }
            let after = try sealed("provider_keys", home, "signing_sealed") + sealed("device_keys", home)
            deleted += before.subtracting(after)
        }
        let bytes = try home.scratch.bytes()
        let left = deleted.filter { pieces($0).contains(where: bytes.contains) }
        #expect(deleted.count >= 60 && left.isEmpty, "\(left.count) of \(deleted.count) are left")
    }

    @Test func whileAnotherProcessReadsThePurgeSaysSoAndASecondFinishes() throws {
        let home = try Home(options: .impatient)
        _ = try home.store.generateDeviceKey(at: start)
        let blob = try #require(try sealed("device_keys", home).first)
        let reader = try home.raw()
        try reader.execute("BEGIN; SELECT * FROM device_keys")
        #expect(code { try home.store.purgeDeviceKeys(named: nil) } == .storeBusy)
        #expect(try home.store.deviceKeys().isEmpty)
        try reader.execute("COMMIT")
        #expect(try home.store.purgeDeviceKeys(named: nil).isEmpty)
        #expect(!(try home.scratch.bytes()).contains(blob))
    }

    @Test func whileAnotherProcessReadsARotationIsDoneAllTheSame() throws {
        let home = try Home(options: .impatient)
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        let first = try home.store.rotateSigningKey(at: start)
        let blob = try #require(try sealed("provider_keys", home, "signing_sealed").first)
        do {
            let reader = try home.raw()
            try reader.execute("BEGIN; SELECT * FROM provider_keys")
            #expect(try home.store.rotateSigningKey(at: start).epoch == first.epoch + 1)
            try reader.execute("COMMIT")
        }
        _ = try home.store.purgeRetiredDeviceKeys(at: start)
        #expect(!(try home.scratch.bytes()).contains(blob))
    }
}

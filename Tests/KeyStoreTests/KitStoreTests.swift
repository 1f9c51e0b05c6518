import Glibc
import Pushcrypt
import Testing
import VectorKit

@testable import PushcryptKeyStore

/// `Tests/Data/Vectors/kit/stores`: databases that an independent program made, opened and read to the last row.
@Suite struct KitStoreTests {
    @Test func aStoreIsReadOrNot() throws {
        let vectors = try KitGroup.stores.vectors()
        for vector in vectors { try check(vector) }
        print("vectors: kit/stores: \(vectors.count)")
    }

    private func check(_ vector: KitVector) throws {
        let scratch = try make(vector)
        let passphrase = try vector.optional("passphrase").map { text in
            let bytes = Bytes(text.utf8)
            return try StorePassphrase(bytes.span)
        }
        var place = "open"
        var lines: [String] = []
        do {
            let store = try SQLiteKeyStore.open(in: scratch.store, passphrase: passphrase, options: .quick)
            for part in Self.parts {
                place = part.table
                lines += try part.read(store)
            }
            #expect(vector.expect == "opened" && vector.optional("fails-at") == nil, "\(vector)")
            #expect(lines == expected(vector), "\(vector)")
        } catch let error as KeyStoreError {
            #expect(error.code.description == vector.expect, "\(vector): \(error)")
            #expect(place == vector.optional("fails-at"), "\(vector)")
        }
    }

    /// The files of a store, as somebody has left them.
    private func make(_ vector: KitVector) throws -> Scratch {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        try writeFile(scratch.file("keystore.db"), [])
        if vector.optional("store-key") != nil { try writeFile(scratch.file("store.key"), vector.bytes("store-key")) }
        let database = try SQLiteConnection(path: scratch.file("keystore.db"), hasChecksums: true, busyTimeout: 0)
        try database.execute(vector.text)
        return scratch
    }

    private func expected(_ vector: KitVector) -> [String] {
        ["device-key", "pin", "learned", "signing-key", "provider-key", "device", "setting"].flatMap { name in
            vector.all(name).map { "\(name) \($0)" }
        }
    }

    /// A table, and what is read of it as the kit's headers say it.
    private struct Part: Sendable {
        let table: String
        let read: @Sendable (SQLiteKeyStore) throws -> [String]
    }

    private static let parts = [
        Part(table: "device_keys") { store in
            try store.deviceKeys().map { record in
                let key = try #require(try store.deviceKey(id: record.keyID, at: record.createdAt)).key
                let text = key.withText { String(decoding: Bytes(copying: $0), as: UTF8.self) }
                return "device-key \(record.state) \(record.generation) \(text) \(record.name)"
            }
        },
        Part(table: "pins") { store in
            try store.pinnedProviders().map { "pin \($0.key) \($0.account)" }
        },
        Part(table: "learned") { store in
            try store.readOnce { (store) throws(KeyStoreError) in
                try store.rows(LearnedTrustRow.self, "ORDER BY id").map { row in
                    "learned \(row.provider) \(row.trust.certificate?.description ?? "-") \(row.trust.floor)"
                }
            }
        },
        Part(table: "provider_keys") { store in
            var (signing, lines): ([String], [String]) = ([], [])
            for record in try store.providerKeys() {
                if let key = try store.signingCredential(named: record.name).credential?.key {
                    let text = key.withText { String(decoding: Bytes(copying: $0), as: UTF8.self) }
                    signing.append("signing-key \(text) \(record.name)")
                }
                let text =
                    record.isOffline
                    ? "-"
                    : try store.providerSecret(named: record.name).withText {
                        String(decoding: Bytes(copying: $0), as: UTF8.self)
                    }
                lines.append("provider-key \(record.generation) \(record.epoch) \(text) \(record.name)")
            }
            return signing + lines
        },
        Part(table: "devices") { store in
            var lines: [String] = []
            try store.forEachDevice { result in
                let device = try result.get()
                lines.append("device \(device.generation) \(device.publicKey) \(device.id)")
            }
            return lines
        },
        Part(table: "settings") { store in try store.setting(named: "title").map { ["setting title \($0)"] } ?? [] },
    ]
}

import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A phone that posts its records, and what it can forge.
struct PostingPhone {
    var id = "phone1"
    var key = DeviceKey().publicKey
    var updateKey = SigningKey()
    var generation: UInt64 = 2
    let provider: ProviderPublicKey

    init(of provider: ProviderPublicKey) { self.provider = provider }

    func record(_ sequence: UInt64, _ change: (inout DeviceRegistration) -> Void = { _ in }) -> DeviceRegistration {
        var record = DeviceRegistration(
            deviceID: id, publicKey: key, topic: try? .app, generation: generation, createdAt: start,
            pinnedProvider: provider)
        (record.updateKey, record.sequence, record.nonce) = (updateKey.publicKey, sequence, RecordNonce())
        change(&record)
        return record
    }

    /// A signed record.
    func signed(
        _ sequence: UInt64, over channel: SignedRecord.Channel = .open, by key: SigningKey? = nil,
        for topic: Topic? = nil, _ change: (inout DeviceRegistration) -> Void = { _ in }
    ) throws -> SignedRecord {
        try SignedRecord(
            record(sequence, change), by: key ?? updateKey, over: channel, for: topic ?? .app)
    }

    func end(by key: SigningKey? = nil) throws -> SignedRecord {
        try SignedRecord(DeviceEnd(of: id, at: provider), by: key ?? updateKey, for: .app)
    }
}

extension SQLiteKeyStore {
    /// Posts a record; the word for what has become of it, or the reason of the refusal.
    func post(_ record: SignedRecord, session: DeviceOwner? = nil, at now: Timestamp = start) throws -> String {
        switch try #require(try accept(record.body, session: session, at: now)).event {
        case .registered(_, let outcome): "\(outcome)"
        case .ended: "ended"
        case .refused(let refusal, _): refusal.description
        case .paired, .repeated, .answer, .hello: "no record"
        }
    }

    /// Every value of every table.
    func contents() throws -> [String: [[SQLiteValue]]] {
        try readOnce { (store) throws(KeyStoreError) in
            var contents: [String: [[SQLiteValue]]] = [:]
            for row in try store.connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") {
                guard case .text(let name) = row[0] else { continue }
                let table = String(decoding: name, as: UTF8.self)
                contents[table] = try store.connection.rows("SELECT * FROM \"\(table)\"")
            }
            return contents
        }
    }

    func held(_ id: String) throws -> Held? {
        try readOnce { (store) throws(KeyStoreError) in try store.held(id) }
    }
}
